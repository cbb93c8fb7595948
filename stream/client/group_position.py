"""How far a group is on a partition, as its committed offset and map tell it to anybody."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stream.errors import MapUnreadable
from stream.exactly_once.offset_map import OffsetMap, decode
from stream.log.base import Committed, LogAdmin, Partition

ASK_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class GroupPosition:
    """One group on one partition."""

    group: str
    partition: Partition
    #: First offset kept, and the last stable offset: what lies between can be seen.
    low: int
    end: int
    #: What is committed; None: nothing yet.
    committed: Committed | None
    #: What is done; None: it cannot be trusted.
    offsets: OffsetMap | None
    #: Why it cannot be trusted.
    distrust: str | None = None

    @property
    def base(self) -> int:
        """The lowest offset that is not done, as far as anybody can say."""
        return self.low if self.committed is None else max(self.low, self.committed.offset)

    @property
    def lag(self) -> int:
        """Offsets that are not done (a transaction's marker counts until it is passed over)."""
        if self.offsets is None:
            return max(0, self.end - self.base)
        open_below = sum(self.low <= offset < self.end for offset in self.offsets.incomplete)
        return open_below + max(0, self.end - max(self.offsets.hi + 1, self.low))

    def done(self, offset: int) -> bool:
        """Whether the work at `offset` is done and committed; False where nobody can say."""
        return self.offsets is not None and self.offsets.says_done(offset)

    def open_before(self, offset: int) -> int:
        """Offsets before this one that are not done."""
        if self.offsets is None:
            return max(0, offset - self.base)
        begin = max(self.offsets.hi + 1, self.low)
        open_below = sum(self.low <= other < offset for other in self.offsets.incomplete)
        return open_below + max(0, offset - begin)


def standings(
    admin: LogAdmin, group: str, partitions: Sequence[Partition], ask_s: float = ASK_S
) -> Mapping[Partition, GroupPosition]:
    """Every partition's standing, from plain offsets: nobody who commits is waited for.

    LogTimeout when one of the three questions has no answer in `ask_s`.
    """
    committed = admin.group_offsets(group, partitions, ask_s)
    marks, ends = admin.watermarks(partitions, ask_s), admin.stable_ends(partitions, ask_s)
    return {
        place: _standing(group, place, marks[place].low, marks[place].high, ends[place], committed[place])
        for place in partitions
    }


def partitions_of(topics: Mapping[str, int], names: Iterable[str]) -> list[Partition]:
    """All partitions of those `names` that exist."""
    return [Partition(name, number) for name in names for number in range(topics.get(name, 0))]


def _standing(
    group: str, place: Partition, low: int, high: int, end: int, committed: Committed | None
) -> GroupPosition:
    try:
        offsets = (
            OffsetMap.empty(low) if committed is None else decode(committed.metadata, committed.offset, high)
        )
    except MapUnreadable as wrong:
        return GroupPosition(group, place, low, end, committed, None, str(wrong))
    return GroupPosition(group, place, low, end, committed, offsets)
