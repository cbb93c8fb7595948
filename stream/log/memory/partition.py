"""A partition in memory: offsets, transactions, markers, the last stable offset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from schemas.headers import Headers
from schemas.weight import KEPT_HEADERS_MAX
from stream.log.crowded import too_many


class State(Enum):
    """Of a transaction."""

    OPEN = "open"
    COMMITTED = "committed"
    ABORTED = "aborted"


class MemoryTransaction:
    """One transaction, shared by all that was written in it."""

    def __init__(self) -> None:
        self.state = State.OPEN


class MemoryRecord:
    """A `Record`."""

    __slots__ = ("_headers", "_key", "_offset", "_partition", "_timestamp_ms", "_topic", "_value")

    def __init__(
        self,
        place: tuple[str, int, int],
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        timestamp_ms: int,
    ) -> None:
        self._topic, self._partition, self._offset = place
        self._key = key
        self._value = value
        self._headers = list(headers) or None
        self._timestamp_ms = timestamp_ms

    def topic(self) -> str:
        return self._topic

    def partition(self) -> int:
        return self._partition

    def offset(self) -> int:
        return self._offset

    def key(self) -> bytes | None:
        return self._key

    def value(self) -> bytes | None:
        return self._value

    def headers(self) -> Headers | None:
        if self._headers is not None and len(self._headers) > KEPT_HEADERS_MAX:
            raise too_many(self._headers)
        return self._headers

    def timestamp(self) -> tuple[int, int]:
        """Type 1: the creator's time."""
        return (1, self._timestamp_ms)

    def leader_epoch(self) -> int | None:
        return 0

    def __repr__(self) -> str:
        return f"MemoryRecord({self._topic}/{self._partition}/{self._offset}, {self._key!r})"


class _Entry(NamedTuple):
    """A record, or the control marker that ends a transaction and takes an offset too."""

    record: MemoryRecord | None
    transaction: MemoryTransaction | None


@dataclass(frozen=True, slots=True)
class Damage:
    """A batch that does not come out; `room`: it only unpacks to more than members take."""

    first: int
    last: int
    room: bool

    def holds(self, offset: int, *, careful: bool) -> bool:
        return self.first <= offset <= self.last and not (self.room and careful)


class Fetched(NamedTuple):
    """Visible records, and where to read on: past markers and aborted records."""

    records: Sequence[MemoryRecord]
    next_offset: int
    #: Reading stops here.
    damage: Damage | None = None


_DELETED: Final = _Entry(None, None)


class MemoryPartition:
    """Entries by offset from 0 on."""

    def __init__(self) -> None:
        self.low = 0
        self._entries: list[_Entry] = []
        self._open: dict[MemoryTransaction, int] = {}
        self.damages: list[Damage] = []

    @property
    def high(self) -> int:
        """The high watermark: the next offset."""
        return len(self._entries)

    @property
    def stable(self) -> int:
        """The last stable offset."""
        return min(self._open.values(), default=self.high)

    def append(self, record: MemoryRecord, transaction: MemoryTransaction | None) -> None:
        if transaction is not None:
            self._open.setdefault(transaction, self.high)
        self._entries.append(_Entry(record, transaction))

    def end(self, transaction: MemoryTransaction) -> None:
        """Write the marker; it takes an offset."""
        del self._open[transaction]
        self._entries.append(_DELETED)

    def delete_below(self, offset: int) -> None:
        for place in range(self.low, offset):
            self._entries[place] = _DELETED
        self.low = max(self.low, offset)

    def fetch(self, offset: int, records_max: int, *, careful: bool = False) -> Fetched:
        """Committed records from `offset` on, none at or above the last stable offset."""
        found: list[MemoryRecord] = []
        place = max(offset, self.low)
        stable = self.stable
        while place < stable and len(found) < records_max:
            for damage in self.damages:
                if damage.holds(place, careful=careful):
                    return Fetched(found, place, damage)
            record, transaction = self._entries[place]
            if record is not None and (transaction is None or transaction.state is State.COMMITTED):
                found.append(record)
            place += 1
        return Fetched(found, place)
