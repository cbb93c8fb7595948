"""A dispatcher on the log in memory, turned by hand, and what came of its inputs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from schemas.dead_letter import DeadLetter, parse_dead_letter
from schemas.headers import Headers
from schemas.lane import LANES
from schemas.registry import SchemaSource
from schemas.work_record import WorkRecord, parse_work
from stream.config.settings import InputBinding, Settings, slot_name
from stream.dispatcher.dependencies import DispatcherDependencies
from stream.dispatcher.limits import DispatcherLimits
from stream.dispatcher.loop import Dispatcher
from stream.log.base import Committed, Output, Partition, Record, TopicDescription, nowhere
from stream.log.memory.log import Fault, MemoryLog
from stream.metrics.base import Metrics, NoMetrics
from stream.topics import ensure_topics
from workers.endpoint import Endpoint

INPUT = "headrace.requests"
NOW_MS = 1_764_400_000_000
QUICK = DispatcherLimits(poll_s=0, gap_commit_s=0, back_off_s=0, wait_s=1, wait_max_s=4, lag_every_s=1e9)


def line(**changes: Any) -> bytes:
    """A good request line; `body_…` changes go into its body, None leaves a field out."""
    body = {"model": "sim", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 8}
    whole: dict[str, Any] = {
        "custom_id": "r-1",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": body,
    }
    for name, value in changes.items():
        target, key = (body, name.removeprefix("body_")) if name.startswith("body_") else (whole, name)
        target[key] = value
        if value is None:
            del target[key]
    return json.dumps(whole).encode()


@dataclass
class Stage:
    """Everything a test of the dispatcher touches."""

    settings: Settings = field(
        default_factory=lambda: Settings(endpoints={"sim": Endpoint("sim", "simulated", partitions=4)})
    )
    registry: SchemaSource | None = None
    metrics: Metrics = field(default_factory=NoMetrics)
    rules: DispatcherLimits = QUICK
    log: MemoryLog = field(default_factory=MemoryLog)
    seconds: float = 0.0
    reach: Callable[[str], None] = nowhere

    def __post_init__(self) -> None:
        self.admin = self.log.admin()
        ensure_topics(self.admin, self.settings)
        self.states: list[str] = []

    @property
    def parts(self) -> DispatcherDependencies:
        return DispatcherDependencies(
            log=self.log,
            clock_s=lambda: self.seconds,
            now_ms=lambda: NOW_MS,
            registry=self.registry,
            metrics=self.metrics,
            reach=self.reach,
            report=self.states.append,
            rules=self.rules,
        )

    def dispatcher(self, slot: int = 0) -> Dispatcher:
        """One that has joined its group."""
        made = Dispatcher(self.settings, slot, self.parts, self.admin)
        made.start()
        return made

    def topic(self, name: str, partitions: int = 1, **settings: str) -> None:
        self.admin.create(
            [TopicDescription(name, partitions, {k.replace("_", "."): v for k, v in settings.items()})], 1
        )

    def send(
        self,
        *values: bytes | None,
        topic: str = INPUT,
        key: bytes | None = None,
        headers: Headers | None = None,
        partition: int = 0,
    ) -> None:
        producer = self.log.plain_producer()
        for value in values:
            producer.send(Output(topic, key, value, headers or [], partition, NOW_MS - 50))

    def dispatch(self, turns: int = 12) -> None:
        """A dispatcher lives for some turns and ends cleanly."""
        made = self.dispatcher()
        for _ in range(turns):
            made.turn()
        made.close()

    def inject(self, *faults: Fault) -> None:
        self.log.inject(slot_name(self.settings.dispatcher_group, 0), *faults)

    def records(self, *topics: str) -> list[Record]:
        return list(self.log.reader(topics, careful=True).to_end(1))

    @property
    def work(self) -> list[WorkRecord]:
        """What went to the work topics, in order of its source."""
        topics = [self.settings.work_topic(name, lane) for name in self.settings.endpoints for lane in LANES]
        found = [parse_work(r.key(), r.value(), r.headers()) for r in self.records(*topics)]
        return sorted(found, key=lambda work: work.source)

    @property
    def dead(self) -> list[DeadLetter]:
        found = self.records(self.settings.outputs.dead_letters)
        letters = [parse_dead_letter(r.key(), r.value(), r.headers()) for r in found]
        return sorted(letters, key=lambda letter: letter.source)

    @property
    def committed(self) -> Mapping[Partition, Committed | None]:
        places = [
            Partition(topic, number)
            for topic, count in self.admin.topics(1).items()
            for number in range(count)
            if any(topic == binding.pattern for binding in self.settings.inputs)
        ]
        return self.admin.group_offsets(self.settings.dispatcher_group, places, 1)

    def assert_each_input_has_one_output(self, *topics: str) -> None:
        """I1 and I4: one output for each visible input, and nothing left to read."""
        names = topics or (INPUT,)
        inputs = sorted((r.topic(), r.partition(), r.offset()) for r in self.records(*names))
        outputs = sorted([*(tuple(w.source) for w in self.work), *(tuple(d.source) for d in self.dead)])
        assert outputs == inputs
        for place, offset in self.committed.items():
            end = self.admin.stable_ends([place], 1)[place]
            assert (offset.offset if offset else 0) == end, place


def bound(*bindings: InputBinding) -> Settings:
    return Settings(
        inputs=(InputBinding(INPUT), *bindings), endpoints={"sim": Endpoint("sim", "simulated", partitions=4)}
    )
