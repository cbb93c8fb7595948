"""The state that all clients of a `MemoryLog` share, under one lock."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from stream.log import reasons
from stream.log.base import Committed, OffsetCommit, Output, Partition, TopicDescription
from stream.log.limits import MESSAGE_BYTES_MAX
from stream.log.memory.group import Clock, MemoryGroup
from stream.log.memory.murmur2 import partition_of
from stream.log.memory.partition import MemoryPartition, MemoryRecord, MemoryTransaction, State

#: What a topic has where nothing else is said, as Kafka's defaults.
TOPIC_DEFAULTS = {"cleanup.policy": "delete", "max.message.bytes": "1048588", "retention.ms": "604800000"}
_RECORD_OVERHEAD_BYTES = 70
#: What there is to be allowed on a topic, as Kafka tells it.
OPERATIONS: Final = frozenset(
    {"Read", "Write", "Create", "Delete", "Alter", "Describe", "DescribeConfigs", "AlterConfigs"}
)


class Fault(Enum):
    """What the next publish of a transactional id meets; for tests."""

    #: The commit happens, its response is lost.
    COMMITTED_UNKNOWN = "committed_unknown"
    #: The commit never arrives: the transaction stays open until the next start under the id.
    OPEN_UNKNOWN = "open_unknown"
    #: The broker asks for an abort.
    ABORTED = "aborted"


@dataclass(slots=True)
class Topic:
    """Partitions and settings."""

    partitions: list[MemoryPartition]
    settings: dict[str, str]


@dataclass(slots=True)
class Coordinator:
    """What the broker knows of one transactional id."""

    epoch: int = 0
    #: The broker itself raised the epoch: the client is refused, not fenced.
    expired: bool = False
    open: MemoryTransaction | None = None
    touched: set[Partition] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)
    faults: deque[Fault] = field(default_factory=deque)

    def begin_epoch(self) -> int:
        """For a client that starts: all before it are fenced."""
        self.epoch += 1
        self.expired = False
        return self.epoch

    def expire(self) -> None:
        self.expired = True


class MemoryBroker:
    """Call everything with `changed` held; it is notified whenever a waiting client may go on."""

    def __init__(self, session_timeout_s: float, clock: Clock) -> None:
        self.changed = threading.Condition(threading.RLock())
        self.clock = clock
        #: Topic, operation.
        self.denied: set[tuple[str, str]] = set()
        self.topics: dict[str, Topic] = {}
        self._session_timeout_s = session_timeout_s
        self._groups: dict[str, MemoryGroup] = {}
        self._coordinators: dict[str, Coordinator] = {}

    def create(self, topic: TopicDescription) -> None:
        if topic.name not in self.topics:
            partitions = [MemoryPartition() for _ in range(topic.partitions)]
            self.topics[topic.name] = Topic(partitions, {**TOPIC_DEFAULTS, **topic.settings})
            self.changed.notify_all()

    def group(self, name: str) -> MemoryGroup:
        return self._groups.setdefault(name, MemoryGroup(self._session_timeout_s))

    def coordinator(self, transactional_id: str) -> Coordinator:
        return self._coordinators.setdefault(transactional_id, Coordinator())

    def partition(self, place: Partition) -> MemoryPartition | None:
        topic = self.topics.get(place.topic)
        there = topic is not None and 0 <= place.partition < len(topic.partitions)
        return topic.partitions[place.partition] if topic is not None and there else None

    def may(self, topic: str) -> frozenset[str]:
        """Everything that is not denied."""
        return OPERATIONS - {operation for denied, operation in self.denied if denied == topic}

    def counts(self) -> Mapping[str, int]:
        return {name: len(topic.partitions) for name, topic in self.topics.items()}

    def place(self, output: Output) -> Partition:
        """Its partition: as told, by key, or 0 for a null key (Kafka's choice is random)."""
        topic = self.topics.get(output.topic)
        if output.partition >= 0 or topic is None or output.key is None:
            return Partition(output.topic, max(0, output.partition))
        return Partition(output.topic, partition_of(output.key, len(topic.partitions)))

    def refuses(self, output: Output, place: Partition) -> str | None:
        """The reason why the record cannot be delivered; None: it can."""
        topic = self.topics.get(place.topic)
        if topic is None:
            return reasons.UNKNOWN_TOPIC
        if (place.topic, "Write") in self.denied:
            return reasons.UNAUTHORISED
        if place.partition >= len(topic.partitions):
            return reasons.UNKNOWN_PARTITION
        if size_of(output) > min(MESSAGE_BYTES_MAX, int(topic.settings["max.message.bytes"])):
            return reasons.TOO_LARGE
        if output.key is None and "compact" in topic.settings["cleanup.policy"]:
            return reasons.REFUSED
        return None

    def append(self, output: Output, place: Partition, transaction: MemoryTransaction | None) -> int:
        """The offset it got."""
        partition = self.topics[place.topic].partitions[place.partition]
        offset = partition.high
        timestamp_ms = output.timestamp_ms or int(time.time() * 1000)
        record = MemoryRecord((*place, offset), output.key, output.value, output.headers, timestamp_ms)
        partition.append(record, transaction)
        self.changed.notify_all()
        return offset

    def stage(self, coordinator: Coordinator, group: str, offsets: list[OffsetCommit]) -> None:
        """Offsets of the open transaction: committed with it, unstable until then."""
        if coordinator.open is None:
            raise AssertionError("offsets outside a transaction")
        staged = {Partition(o.topic, o.partition): Committed(o.offset, o.metadata) for o in offsets}
        self.group(group).stage(coordinator.open, staged)
        coordinator.groups.add(group)

    def end(self, coordinator: Coordinator, *, commit: bool) -> None:
        """Markers to every touched partition, offsets to every group."""
        transaction = coordinator.open
        if transaction is None:
            return
        transaction.state = State.COMMITTED if commit else State.ABORTED
        for place in coordinator.touched:
            if (partition := self.partition(place)) is not None:
                partition.end(transaction)
        for group in coordinator.groups:
            self.group(group).settle(transaction, commit=commit)
        coordinator.open = None
        coordinator.touched = set()
        coordinator.groups = set()
        self.changed.notify_all()


def size_of(output: Output) -> int:
    """Bytes on the wire, about; uncompressed."""
    headers = sum(len(name) + len(value or b"") + 4 for name, value in output.headers)
    return len(output.key or b"") + len(output.value or b"") + headers + _RECORD_OVERHEAD_BYTES
