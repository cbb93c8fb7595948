"""Where a reader of the log in memory stands in each of its partitions."""

from __future__ import annotations

from typing import Final

from stream.log.base import EndOfPartition, Partition, Polled
from stream.log.memory_broker import MemoryBroker
from stream.log.memory_partition import MemoryRecord


class MemoryCursor:
    """Positions, pauses and the ends already told; call with the broker's lock held."""

    def __init__(self, broker: MemoryBroker) -> None:
        self.positions: dict[Partition, int] = {}
        self.paused: set[Partition] = set()
        self._told: dict[Partition, int] = {}
        self._broker: Final = broker

    def move(self, place: Partition, offset: int) -> None:
        self.positions[place] = offset
        self._told.pop(place, None)

    def fetch(self, records_max: int) -> Polled:
        """A partition after the other, the one read last goes to the end of the line."""
        records: list[MemoryRecord] = []
        ends: list[EndOfPartition] = []
        for place in list(self.positions):
            partition = self._broker.partition(place)
            if partition is None or place in self.paused or len(records) >= records_max:
                continue
            fetched = partition.fetch(self._begin(place), records_max - len(records))
            records += fetched.records
            self.positions[place] = fetched.next_offset
            if fetched.records:
                self.positions[place] = self.positions.pop(place)
            if fetched.next_offset == partition.stable and self._told.get(place) != partition.stable:
                self._told[place] = partition.stable
                ends.append(EndOfPartition(*place, partition.stable))
        return Polled(records, ends)

    def _begin(self, place: Partition) -> int:
        """A position beyond the end (the topic was made anew) goes back to the first record, as `earliest` says."""
        partition = self._broker.partition(place)
        position = self.positions[place]
        if partition is not None and position > partition.high:
            return partition.low
        return position
