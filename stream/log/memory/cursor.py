"""Where a reader of the log in memory stands in each of its partitions."""

from __future__ import annotations

from typing import Final

from stream.log.base import EndOfPartition, Partition, Polled
from stream.log.memory.broker import MemoryBroker
from stream.log.memory.partition import MemoryRecord
from stream.log.stuck import Stuck


class MemoryCursor:
    """Positions, pauses and the ends already told; call with the broker's lock held."""

    def __init__(self, broker: MemoryBroker, *, resets: bool = True, careful: bool = False) -> None:
        """`resets`: a position that the log does not have goes to its first record; else it is told, and nothing read."""
        self._resets = resets
        self._careful = careful
        self._overtaken: set[Partition] = set()
        self.positions: dict[Partition, int] = {}
        self.paused: set[Partition] = set()
        self._told: dict[Partition, int] = {}
        self._broker: Final = broker

    def move(self, place: Partition, offset: int) -> None:
        self.positions[place] = offset
        self._told.pop(place, None)
        self._overtaken.discard(place)

    def fetch(self, records_max: int) -> Polled:
        """A partition after the other, the one read last goes to the end of the line."""
        records: list[MemoryRecord] = []
        ends: list[EndOfPartition] = []
        overtaken: list[Partition] = []
        stuck: list[Stuck] = []
        for place in list(self.positions):
            partition = self._broker.partition(place)
            if partition is None or place in self.paused or len(records) >= records_max:
                continue
            if not self._resets and not partition.low <= self.positions[place] <= partition.high:
                if place not in self._overtaken:
                    self._overtaken.add(place)
                    overtaken.append(place)
                continue
            room = records_max - len(records)
            fetched = partition.fetch(self._begin(place), room, careful=self._careful)
            records += fetched.records
            self.positions[place] = fetched.next_offset
            if fetched.records:
                self.positions[place] = self.positions.pop(place)
            if fetched.damage is not None:
                stuck.append(Stuck(*place, fetched.damage.first, "bad_compression", "it does not unpack"))
            elif fetched.next_offset == partition.stable and self._told.get(place) != partition.stable:
                self._told[place] = partition.stable
                ends.append(EndOfPartition(*place, partition.stable))
        return Polled(records, ends, overtaken, stuck)

    def _begin(self, place: Partition) -> int:
        """A position beyond the end (the topic was made anew) goes back to the first record, as `earliest` says."""
        partition = self._broker.partition(place)
        position = self.positions[place]
        if partition is not None and position > partition.high:
            return partition.low
        return position
