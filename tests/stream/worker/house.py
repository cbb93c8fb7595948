"""A worker on the log in memory, turned by hand: tests put work in, turn, and read what came out."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import Any

from schemas.control import NO_CONTROL, read_control
from schemas.headers import Headers
from schemas.lane import Lane
from schemas.source import Source
from schemas.work import Routed, WorkHeaders
from stream.config.settings import Limits, Settings
from stream.exactly_once.offset_map import OffsetMap, decode
from stream.log.base import Committed, Output, Partition, Record, Success, TopicDescription
from stream.log.memory.log import MemoryLog
from stream.topics import ensure_topics
from stream.worker.assembly import Sockets, build_worker, open_sockets
from stream.worker.dependencies import WorkerDependencies
from stream.worker.limits import WorkerLimits
from stream.worker.loop import Loop, Steps
from tests.stream.worker.fake_runner import FakeRunner, Runs
from workers.endpoint import Endpoint
from workers.journal import Journal, NoJournal, StartJournal

INPUT = "headrace.requests"
FAST = WorkerLimits(poll_s=0.0, look_s=0.0, revoke_s=1.0, offsets_s=1.0, drain_s=0.5)


class Clock:
    """Time that moves when the test says so."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    def passes(self, seconds: float) -> None:
        self.now_s += seconds

    def now_ms(self) -> int:
        return int(self.now_s * 1000)


class Worker:
    """One process: its loop, its fake engine. Drop it to crash it; `close` ends it cleanly."""

    def __init__(self, house: House, slot: int, parts: WorkerDependencies) -> None:
        self.parts = parts
        assert isinstance(parts.runner, FakeRunner)
        self.runner = parts.runner
        self.sockets: Sockets = open_sockets(house.settings, house.endpoint, slot, parts, house.log.admin())
        self.sockets.producer.start(5)
        built: tuple[Loop, Steps] = build_worker(
            house.settings, house.endpoint, f"worker-{slot:02d}", parts, self.sockets
        )
        self.loop, self.steps = built
        self.sockets.consumer.subscribe(self.steps.topics, self.steps.assignment)
        self._clock = house.clock

    @property
    def share(self) -> Any:
        return self.steps.share

    def turn(self, times: int = 10, step_s: float = 0.06) -> Worker:
        for _ in range(times):
            self.loop.turn()
            self._clock.now_s += step_s
        return self

    def close(self) -> None:
        self.loop.drain()
        self.sockets.consumer.close()
        self.sockets.producer.close()
        self.parts.journal.close()


class House:
    """The log, the topics, and the workers on them."""

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        session_timeout_s: float = 8.0,
        commit_interval_ms: int = 100,
        journals: Path | None = None,
        **endpoint: Any,
    ) -> None:
        self.log = MemoryLog(session_timeout_s=session_timeout_s)
        self.clock = Clock()
        #: Where the slots keep their start journals; None: they keep none.
        self._journals = journals
        self.runs = Runs()
        self.endpoint = Endpoint("sim", engine="simulated", partitions=2, **endpoint)
        self.settings = Settings(
            endpoints={"sim": self.endpoint},
            limits=limits or Limits(),
            commit_interval_ms=commit_interval_ms,
        )
        ensure_topics(self.log.admin(), self.settings)
        self._headers = WorkHeaders()
        self._dispatcher = self.log.producer("dispatcher")
        self._dispatcher.start(5)
        self._offsets: Counter[int] = Counter()

    # ---- work --------------------------------------------------------------------------------------------------

    def work_topic(self, lane: Lane) -> str:
        return self.settings.work_topic("sim", lane)

    def put(
        self,
        count: int = 1,
        *,
        lane: Lane = Lane.BATCH,
        partition: int = 0,
        session: str | None = None,
        headers: Headers | None = None,
        value: bytes | None = None,
        key: bytes | None = None,
        format: str = "json",  # noqa: A002
        tenant: str = "acme",
    ) -> list[Source]:
        """Work records in one transaction of the dispatcher; their sources."""
        control = read_control(headers) if headers else NO_CONTROL
        sources, outputs = [], []
        for _ in range(count):
            source = Source(INPUT, 0, self._offsets[0])
            self._offsets[0] += 1
            sources.append(source)
            body = request_line(f"r-{source.offset}") if value is None else value
            routed = Routed("sim", tenant, lane, format, session, None, 0, 1)
            made = self._headers.build(source, self.clock.now_ms(), routed, control)
            outputs.append(Output(self.work_topic(lane), key, body, made, partition))
        outcome = self._dispatcher.publish(outputs, [], None)
        assert outcome == Success()
        return sources

    def create(self, topic: str, partitions: int = 1, **settings: str) -> None:
        named = {name.replace("_", "."): text for name, text in settings.items()}
        self.log.admin().create([TopicDescription(topic, partitions, named)], 5)

    # ---- workers -------------------------------------------------------------------------------------------------

    def worker(self, slot: int = 0, *, auto: bool = True, rules: WorkerLimits = FAST, **parts: Any) -> Worker:
        journal = self._journal(slot)
        made = WorkerDependencies(
            log=self.log,
            runner=FakeRunner(auto=auto, passes=self.clock.passes, runs=self.runs, journal=journal),
            clock_s=self.clock,
            now_ms=self.clock.now_ms,
            rules=rules,
            journal=journal,
        )
        return Worker(self, slot, dataclasses.replace(made, **parts))

    def _journal(self, slot: int) -> StartJournal:
        return (
            NoJournal() if self._journals is None else Journal(self._journals / f"worker-{slot:02d}.starts")
        )

    # ---- what came out -------------------------------------------------------------------------------------------

    def read(self, topic: str) -> list[Record]:
        return list(self.log.reader([topic]).to_end(1))

    @property
    def results(self) -> list[Record]:
        return self.read(self.settings.outputs.results)

    @property
    def dead_letters(self) -> list[Record]:
        return self.read(self.settings.outputs.dead_letters)

    @property
    def usage(self) -> list[Record]:
        return self.read(self.settings.own_topic("usage"))

    def outputs_of(self, *topics: str) -> Counter[str]:
        """How often each source has an output."""
        names = (self.settings.outputs.results, self.settings.outputs.dead_letters, *topics)
        return Counter(header(record, "headrace-source") for name in names for record in self.read(name))

    def committed(self, lane: Lane = Lane.BATCH, partition: int = 0) -> OffsetMap | None:
        place = Partition(self.work_topic(lane), partition)
        found = self.log.admin().group_offsets("headrace.worker.sim", [place], 1)[place]
        return None if found is None else decode(found.metadata, found.offset, 2**40)

    def commit_offset(self, offset: int, metadata: str, lane: Lane = Lane.BATCH, partition: int = 0) -> None:
        """As an operator, or another program, may have left it."""
        place = Partition(self.work_topic(lane), partition)
        self.log._broker.group("headrace.worker.sim").committed[place] = Committed(offset, metadata)


def request_line(custom_id: str) -> bytes:
    return json.dumps(
        {
            "custom_id": custom_id,
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {"model": "sim", "messages": [{"role": "user", "content": f"hello {custom_id}"}]},
        }
    ).encode()


def header(record: Record, name: str) -> str:
    found = dict(record.headers() or [])[name]
    assert found is not None
    return found.decode()
