"""Topics and positions of the log in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stream.errors import LogError
from stream.log.base import Committed, Partition, TopicDescription, Watermarks
from stream.log.memory.broker import MemoryBroker
from stream.log.memory.partition import MemoryPartition

# ruff: noqa: ARG002  (memory answers at once: no timeout passes)


class MemoryAdmin:
    """A `LogAdmin`."""

    def __init__(self, broker: MemoryBroker) -> None:
        self._broker = broker

    def topics(self, timeout_s: float) -> Mapping[str, int]:
        with self._broker.changed:
            return self._broker.counts()

    def describe(self, names: Sequence[str], timeout_s: float) -> Mapping[str, TopicDescription | None]:
        with self._broker.changed:
            topics = self._broker.topics
            return {
                name: TopicDescription(name, len(topics[name].partitions), dict(topics[name].settings))
                if name in topics
                else None
                for name in names
            }

    def create(self, topics: Sequence[TopicDescription], timeout_s: float) -> None:
        with self._broker.changed:
            for topic in topics:
                self._broker.create(topic)

    def delete(self, names: Sequence[str], timeout_s: float) -> None:
        with self._broker.changed:
            for name in names:
                self._broker.topics.pop(name, None)
            self._broker.changed.notify_all()

    def delete_records(self, below: Mapping[Partition, int], timeout_s: float) -> None:
        with self._broker.changed:
            for place, offset in below.items():
                partition = self._partition(place)
                if offset > partition.high:
                    raise LogError(f"delete records of {place}: {offset} is beyond the end, {partition.high}")
                partition.delete_below(offset)

    def may_on_topics(self, names: Sequence[str], timeout_s: float) -> Mapping[str, frozenset[str] | None]:
        with self._broker.changed:
            topics = self._broker.topics
            return {name: self._broker.may(name) if name in topics else None for name in names}

    def group_offsets(
        self, group: str, partitions: Sequence[Partition], timeout_s: float
    ) -> Mapping[Partition, Committed | None]:
        with self._broker.changed:
            return {place: self._broker.group(group).committed.get(place) for place in partitions}

    def watermarks(self, partitions: Sequence[Partition], timeout_s: float) -> Mapping[Partition, Watermarks]:
        with self._broker.changed:
            found = {place: self._partition(place) for place in partitions}
            return {place: Watermarks(partition.low, partition.high) for place, partition in found.items()}

    def stable_ends(self, partitions: Sequence[Partition], timeout_s: float) -> Mapping[Partition, int]:
        with self._broker.changed:
            return {place: self._partition(place).stable for place in partitions}

    def _partition(self, place: Partition) -> MemoryPartition:
        found = self._broker.partition(place)
        if found is None:
            raise LogError(f"no partition {place.topic}/{place.partition}")
        return found
