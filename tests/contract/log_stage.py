"""What the contract of the log is tried with: either log behind one face, and helpers that wait patiently, never long."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from stream.log.base import (
    Assignor,
    GroupStamp,
    Log,
    LogAdmin,
    LogConsumer,
    LogProducer,
    OffsetCommit,
    Output,
    Partition,
    Polled,
    Record,
    TopicDescription,
)

PATIENCE_S = 60.0
STEP_S = 0.05


@dataclass
class Follower:
    """A listener that reads on from the committed offsets, else from the first record, and keeps what it was told."""

    consumer: LogConsumer | None = None
    events: list[tuple[str, tuple[Partition, ...]]] = field(default_factory=list)
    owned: set[Partition] = field(default_factory=set)
    on_revoked: Callable[[], None] | None = None

    def assigned(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        self.events.append(("assigned", tuple(sorted(partitions))))
        self.owned.update(partitions)
        assert self.consumer is not None
        committed = self.consumer.committed(partitions, PATIENCE_S) if partitions else {}
        return {place: found.offset if (found := committed[place]) else 0 for place in partitions}

    def revoked(self, partitions: Sequence[Partition]) -> None:
        self.events.append(("revoked", tuple(sorted(partitions))))
        if self.on_revoked is not None:
            self.on_revoked()
        self.owned.difference_update(partitions)

    def lost(self, partitions: Sequence[Partition]) -> None:
        self.events.append(("lost", tuple(sorted(partitions))))
        self.owned.difference_update(partitions)

    def told(self, what: str) -> list[tuple[Partition, ...]]:
        return [partitions for kind, partitions in self.events if kind == what]


@dataclass
class Member:
    """A consumer with its listener and all that it was given."""

    consumer: LogConsumer
    listener: Follower
    records: list[Record] = field(default_factory=list)
    ends: dict[Partition, int] = field(default_factory=dict)

    def poll(self) -> Polled:
        polled = self.consumer.poll(1_000, STEP_S)
        self.records += polled.records
        for topic, partition, offset in polled.ends:
            self.ends[Partition(topic, partition)] = offset
        for place in polled.overtaken:
            self.consumer.seek(place, self.consumer.watermarks(place, PATIENCE_S).low)
        return polled

    def values(self, place: Partition | None = None) -> list[bytes | None]:
        return [r.value() for r in self.records if place in (None, Partition(r.topic(), r.partition()))]


@dataclass
class Stage:
    """One log and names that nobody else uses."""

    log: Log
    unique: Callable[[str], str]
    #: The same log, whose members lose their partitions soon when they do not poll or are gone.
    hasty: Log
    #: Makes a member of `hasty` lose its partitions by stalling, as long as that takes here.
    stall: Callable[[LogConsumer], None]
    #: From now on nobody may do this: topic, operation. None: this broker judges nobody.
    deny: Callable[[str, str], None] | None = None
    admin: LogAdmin = field(init=False)
    _open: list[Callable[[], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.admin = self.log.admin()

    def topic(self, partitions: int = 1, name: str = "t", **settings: str) -> str:
        topic = self.unique(name)
        named = {key.replace("_", "."): value for key, value in settings.items()}
        self.admin.create([TopicDescription(topic, partitions, named)], PATIENCE_S)
        return topic

    def producer(self, transactional_id: str | None = None) -> LogProducer:
        producer = self.log.producer(transactional_id or self.unique("txn"))
        self._open.append(producer.close)
        producer.start(PATIENCE_S)
        return producer

    def fill(self, *outputs: Output) -> None:
        plain = self.log.plain_producer()
        failures: list[str | None] = []
        for output in outputs:
            plain.send(output, lambda delivery: failures.append(delivery.error))
        assert plain.flush(PATIENCE_S) == 0
        plain.close()
        assert failures == [None] * len(outputs)

    def member(
        self,
        group: str,
        topics: Sequence[str],
        instance_id: str | None = None,
        *,
        assignor: Assignor = "range",
        hasty: bool = False,
    ) -> Member:
        log = self.hasty if hasty else self.log
        consumer = log.consumer(group, instance_id, assignor=assignor)
        listener = Follower(consumer)
        self._open.append(consumer.close)
        consumer.subscribe(topics, listener)
        return Member(consumer, listener)

    def await_stable(self, topic: str) -> None:
        """A commit answers before its markers are written: until all of the topic is stable."""
        places = [Partition(topic, number) for number in range(self.admin.topics(PATIENCE_S)[topic])]
        deadline = time.monotonic() + PATIENCE_S
        while True:
            high = {place: marks.high for place, marks in self.admin.watermarks(places, PATIENCE_S).items()}
            if self.admin.stable_ends(places, PATIENCE_S) == high:
                return
            assert time.monotonic() < deadline, high
            time.sleep(STEP_S)

    def read(self, topic: str) -> list[Record]:
        """All committed records, in the order of partition and offset."""
        self.await_stable(topic)
        reader = self.log.reader([topic])
        try:
            return sorted(reader.to_end(PATIENCE_S), key=lambda r: (r.partition(), r.offset()))
        finally:
            reader.close()

    def close(self) -> None:
        for close in reversed(self._open):
            close()


def drive(members: Sequence[Member], until: Callable[[], bool]) -> None:
    """Poll all in turn until it is so."""
    deadline = time.monotonic() + PATIENCE_S
    while not until():
        assert time.monotonic() < deadline, [(m.listener.events, m.ends, len(m.records)) for m in members]
        for member in members:
            member.poll()


def settle(members: Sequence[Member], count: int) -> None:
    """Until `count` partitions are owned, each by one member, and all members saw the same generation."""

    def settled() -> bool:
        owned = [place for member in members for place in member.listener.owned]
        stamps = {member.consumer.group().generation for member in members}
        return len(owned) == len(set(owned)) == count and len(stamps) == 1

    drive(members, settled)


def out(topic: str, value: bytes | None = b"v", key: bytes | None = b"k", partition: int = 0) -> Output:
    return Output(topic, key, value, [], partition)


def commit(place: Partition, offset: int, metadata: str = "") -> OffsetCommit:
    return OffsetCommit(*place, offset, metadata)


def stamp_with(stamp: GroupStamp, generation: int, member_id: str) -> GroupStamp:
    return GroupStamp(generation, member_id, stamp.native)
