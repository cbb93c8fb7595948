"""What a transaction says of the partitions that were read, and what is known to be committed of them: the one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stream.dispatcher.assignment import Assignment
from stream.exactly_once.offset_map import OffsetMap
from stream.log.base import OffsetCommit, Partition

#: What the oracle says of each partition; None: nothing was ever committed.
CommittedMaps = Mapping[Partition, OffsetMap | None]


class Progress:
    """Over the owned partitions."""

    def __init__(self, owned: Assignment) -> None:
        self._owned = owned

    def offsets(self, ends: Mapping[Partition, int]) -> list[OffsetCommit]:
        """For a transaction after which these partitions stand at `ends`; only what is not committed yet."""
        positions = self._owned.positions
        return [
            positions[partition].commit_at(end)
            for partition, end in ends.items()
            if partition in positions and end > positions[partition].committed
        ]

    def holds(self, offsets: Sequence[OffsetCommit], found: CommittedMaps) -> bool:
        """Whether a transaction with these offsets is committed, by what the oracle found."""
        below = self.done_below(found)
        return all(below.get(Partition(o.topic, o.partition), -1) >= o.offset for o in offsets)

    def done_below(self, found: CommittedMaps) -> Mapping[Partition, int]:
        """For each partition: everything below this offset is published."""
        return {partition: at.base for partition, at in found.items() if at is not None}

    def note(self, ends: Mapping[Partition, int]) -> None:
        """Everything below these offsets is committed."""
        for partition, offset in ends.items():
            position = self._owned.positions.get(partition)
            if position is not None:
                position.committed = max(position.committed, offset)

    @property
    def committed(self) -> Mapping[Partition, int]:
        """As far as we know."""
        return {partition: at.committed for partition, at in self._owned.positions.items()}
