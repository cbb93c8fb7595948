"""An installation on the log in memory, with records put wherever a test wants them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress

from schemas import headers as names
from schemas.dead_letter import DeadLetter, write_dead_letter
from schemas.failure import ErrorClass, Failure, Stage
from schemas.headers import Headers
from schemas.heartbeat import Heartbeat
from schemas.lane import LANES, Lane
from schemas.result import result_headers
from schemas.source import Source
from stream.config.settings import Settings
from stream.exactly_once.offset_map import OffsetMap, encode
from stream.log.base import OffsetCommit, Output, Partition, Success
from stream.log.memory.log import MemoryLog
from stream.log.plain import Delivery
from stream.topics import ensure_topics
from stream.worker.heartbeat import heartbeat_record
from workers.endpoint import Endpoint


class _Died(Exception):
    """A producer is gone, and its transaction is not."""


class Nobody:
    """Reads nothing of what it is assigned."""

    def assigned(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        return dict.fromkeys(partitions, 0)

    def revoked(self, partitions: Sequence[Partition]) -> None:
        """Nothing was read."""

    def lost(self, partitions: Sequence[Partition]) -> None:
        """Nothing was read."""


class InMemory:
    """Topics of the service, and no role that does anything."""

    def __init__(self) -> None:
        self.settings = Settings(endpoints={"sim": Endpoint("sim", engine="simulated", partitions=1)})
        self.log = MemoryLog()
        ensure_topics(self.log.admin(), self.settings)
        self.requests = self.settings.inputs[0].pattern
        self.work = self.settings.work_topic("sim", Lane.BATCH)

    def put(
        self, topic: str, value: bytes | None, headers: Headers | None = None, partition: int = 0
    ) -> Source:
        """One committed record; where it is."""
        placed: list[Delivery] = []
        with closing(self.log.plain_producer()) as producer:
            producer.send(Output(topic, None, value, headers or [], partition), placed.append)
            producer.flush(5)
        return Source(topic, placed[0].partition, placed[0].offset)

    def request(self, custom_id: str, partition: int = 0) -> Source:
        return self.put(self.requests, b'{"custom_id": "%s"}' % custom_id.encode(), partition=partition)

    def release(self, source: Source, value: bytes = b"{}") -> Source:
        """Its work record."""
        return self.put(self.work, value, [(names.SOURCE, str(source).encode())])

    def answer(self, source: Source, custom_id: str = "x", topic: str = "headrace.results") -> Source:
        value = b'{"custom_id": "%s", "response": {}}' % custom_id.encode()
        return self.put(topic, value, result_headers(source, 0, 1, []))

    def bury(
        self,
        source: Source,
        value: bytes,
        error_class: ErrorClass = ErrorClass.INVALID,
        carried: Headers | None = None,
    ) -> Source:
        """Its dead letter."""
        failure = Failure(error_class, Stage.VALIDATE, "the reason")
        letter = DeadLetter(None, value, tuple(carried or ()), source, 0, "group", failure)
        written = write_dead_letter(letter)
        return self.put(self.settings.outputs.dead_letters, written.value, written.headers)

    def beat(self, worker: str, running: list[Source], age_ms: int = 0) -> None:
        """A worker tells that these are in its engine, in the batch lane."""
        by_lane = {str(lane): 0 for lane in LANES} | {"batch": len(running)}
        at_ms = time.time_ns() // 1_000_000 - age_ms
        sources = [str(source) for source in running]
        beat = Heartbeat(worker, "sim", at_ms, "running", 8, by_lane, {}, {}, [0], 0, sources)
        record = heartbeat_record(self.settings.own_topic("workers"), beat)
        self.put(record.topic, record.value)

    def done(self, group: str, place: Partition, offsets: OffsetMap) -> None:
        self.commit(group, place, offsets.base, encode(offsets))

    def commit(self, group: str, place: Partition, offset: int, metadata: str) -> None:
        """As a member of the group does it."""
        with closing(self.log.consumer(group)) as consumer, closing(self.log.producer("tests")) as producer:
            producer.start(5)
            consumer.subscribe([self.settings.own_topic("workers")], Nobody())
            while not consumer.group().valid:
                consumer.poll(1, 0.01)
            commit = OffsetCommit(*place, offset, metadata)
            assert isinstance(producer.publish([], [commit], consumer.group()), Success)

    def hang(self, topic: str, partition: int = 0) -> None:
        """A transaction on this partition stays open; what comes after it is hidden too."""

        def die(point: str) -> None:
            if point == "produced":
                raise _Died

        producer = self.log.producer(f"hangs.{topic}.{partition}")
        producer.start(5)
        with suppress(_Died):
            producer.publish([Output(topic, None, b"{}", [], partition)], [], None, reach=die)

    @property
    def worker_group(self) -> str:
        return self.settings.worker_group("sim")
