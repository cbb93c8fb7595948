"""How far each owned input partition is: read, committed, set aside or waiting."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from stream.dispatcher.bindings import Inlet
from stream.errors import LedgerBroken
from stream.exactly_once.offset_map import OffsetMap, encode
from stream.log.base import OffsetCommit, Partition, Record


@dataclass(slots=True)
class Waiting:
    """Records that were delivered but cannot be judged yet: the partition is paused, and they go first."""

    cause: str
    #: Clock seconds of the next try.
    again_s: float
    tries: int = 1
    records: deque[Record] = field(default_factory=deque)
    #: End of the partition, told while it waited.
    end: int | None = None


@dataclass(slots=True)
class Position:
    """One partition between its assignment and its end.

    All below `next_seen` is committed, in the batch, or never visible (markers, aborted records, compaction).
    """

    partition: Partition
    #: As the group has it; -1: nothing committed yet.
    committed: int
    next_seen: int
    inlet: Inlet
    #: Why nothing may be read from it until an operator says so; None: it flows.
    set_aside: str | None = None
    #: A label for it.
    cause: str = "map"
    waiting: Waiting | None = None
    #: Offsets passed over without a record.
    gaps: int = 0
    #: `topic/partition/`: with the offset it is a record's source.
    origin: bytes = field(init=False)

    def __post_init__(self) -> None:
        self.origin = b"%b/%d/" % (self.partition.topic.encode(), self.partition.partition)

    def deliver(self, offset: int) -> None:
        """The record at `offset` goes into the batch; what lies below and never came is done."""
        if offset < self.next_seen:
            words = f"{self.partition}: offset {offset} after {self.next_seen - 1}"
            raise LedgerBroken(f"{words}: the topic was recreated, or cut back")
        self.gaps += offset - self.next_seen
        self.next_seen = offset + 1

    def end(self, offset: int) -> None:
        """Everything visible below `offset` was delivered."""
        if self.waiting is not None:
            self.waiting.end = max(offset, self.waiting.end or 0)
        elif offset > self.next_seen and self.set_aside is None:
            self.gaps += offset - self.next_seen
            self.next_seen = offset

    @property
    def dirty(self) -> bool:
        return self.next_seen > self.committed and self.set_aside is None

    def commit_at(self, offset: int) -> OffsetCommit:
        """Everything below `offset` is done and nothing above: the map is empty."""
        return OffsetCommit(*self.partition, offset, encode(OffsetMap.empty(offset)))
