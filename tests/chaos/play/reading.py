"""Readers without a group: one that is there all the time, and reads from the beginning to the end."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from zlib import crc32

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from tests.chaos.check.evidence import Place

POLL_S: Final = 0.5
PROGRESS_TIMEOUT_S: Final = 60.0


def reader(bootstrap_servers: str, places: Iterable[Place], isolation: str) -> Consumer:
    """Assigned to `places` from their first record."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": "chaos-reader",
            "enable.auto.commit": False,
            "isolation.level": isolation,
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 100,
            "log_level": 0,
        }
    )
    consumer.assign([TopicPartition(topic, partition, 0) for topic, partition in places])
    return consumer


def read_all(bootstrap_servers: str, places: Iterable[Place], isolation: str) -> Iterator[Message]:
    """Everything from 0 to the end of the moment; partition by partition in order."""
    waiting = set(places)
    consumer = reader(bootstrap_servers, waiting, isolation)
    try:
        while waiting:
            message = consumer.poll(PROGRESS_TIMEOUT_S)
            if message is None:
                raise TimeoutError(f"no end of {sorted(waiting)} within {PROGRESS_TIMEOUT_S} s")
            error = message.error()
            if error is None:
                yield message
            elif error.code() == KafkaError._PARTITION_EOF:
                waiting.discard(place_of(message))
            elif not error.retriable() and error.fatal():
                raise KafkaException(error)
    finally:
        consumer.close()


def place_of(message: Message) -> Place:
    topic, partition = message.topic(), message.partition()
    assert topic is not None
    assert partition is not None
    return topic, partition


def mark_of(message: Message) -> tuple[int, int]:
    """What two readers compare of a record: its offset, and a checksum of key and value."""
    offset = message.offset()
    assert offset is not None
    return offset, crc32((message.value() or b"") + b"|" + (message.key() or b""))


class ConcurrentReader:
    """A read_committed consumer of the outputs, from before the first fault to after the last."""

    def __init__(self, bootstrap_servers: str, places: Iterable[Place]) -> None:
        self._consumer = reader(bootstrap_servers, list(places), "read_committed")
        self._marks: dict[Place, list[tuple[int, int]]] = defaultdict(list)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, name="reader", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def count(self) -> int:
        # A copy in one step: the reader's thread adds partitions meanwhile.
        return sum(len(marks) for marks in list(self._marks.values()))

    def finish(self, ends: Mapping[Place, int], timeout_s: float = PROGRESS_TIMEOUT_S) -> None:
        """Wait until it has read up to `ends` (offsets after the last visible record), then stop."""
        deadline = threading.Event()
        waited = 0.0
        while waited < timeout_s and any(self._next(place) < end for place, end in ends.items()):
            deadline.wait(POLL_S)
            waited += POLL_S
        self.stop()

    def stop(self) -> None:
        if not self._stop.is_set():
            self._stop.set()
            self._thread.join(60)
            self._consumer.close()

    @property
    def marks(self) -> dict[Place, list[tuple[int, int]]]:
        return dict(self._marks)

    def _next(self, place: Place) -> int:
        marks = self._marks.get(place)
        return marks[-1][0] + 1 if marks else 0

    def _read(self) -> None:
        while not self._stop.is_set():
            message = self._consumer.poll(POLL_S)
            if message is not None and message.error() is None:
                self._marks[place_of(message)].append(mark_of(message))
