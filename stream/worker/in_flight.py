"""Calls that outlive the assignment they were started in: kept for a moment, adopted if the partition comes back.

An eager rebalance takes every partition away and gives most back within a heartbeat. Key of a call: topic, partition,
offset and leader epoch of its work record. Where somebody else has committed to the partition meanwhile, a session's
earlier record may have been answered by a run that began later than ours: with `serial` order none of a session stays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from stream.exactly_once.transaction import Ledger
from stream.exactly_once.work_item import WorkItem
from stream.log.base import Partition


class InFlightCalls:
    """Bounded by the ledgers they come from, and by time."""

    def __init__(
        self, cancel: Callable[[list[str]], None], running: dict[str, WorkItem], adopt_s: float
    ) -> None:
        self._cancel = cancel
        self._running = running
        self._adopt_s = adopt_s
        self._records: dict[str, WorkItem] = {}
        self._left_at: dict[Partition, tuple[int, str] | None] = {}
        self._expires_s = 0.0

    def __len__(self) -> int:
        return len(self._records)

    def keep(self, ledgers: Iterable[Ledger], now_s: float) -> None:
        """Revoked: what runs or is done may be adopted."""
        for book in ledgers:
            self._left_at[book.partition] = book.committed
            for record in book.open.values():
                if record.running or record.finished is not None:
                    self._records[key_of(record)] = record
        self._expires_s = now_s + self._adopt_s

    def forget(self, ledgers: Iterable[Ledger]) -> None:
        """Lost or quarantined: what runs is of no use."""
        self.cancel([record for book in ledgers for record in book.open.values() if record.running])

    def returned(self, partitions: Collection[Partition], found: Mapping[Partition, tuple[int, str]]) -> None:
        """These were assigned, with these committed (offset, metadata); everything else went to others."""
        unchanged = {p for p in partitions if self._left_at.get(p) == found.get(p) is not None}
        gone = [
            record
            for record in self._records.values()
            if record.place not in unchanged and not (record.place in partitions and _in_any_turn(record))
        ]
        self.cancel(gone)
        self._left_at.clear()

    def take(self, key: str) -> WorkItem | None:
        """What an earlier assignment knew of this record, if it is still there."""
        return self._records.pop(key, None)

    def cancel(self, records: Iterable[WorkItem]) -> None:
        """End their calls; their answers are dropped."""
        ids = []
        for record in records:
            self._records.pop(key_of(record), None)
            if record.running:
                record.running = False
                self._running.pop(record.id, None)
                ids.append(record.id)
        if ids:
            self._cancel(ids)

    def expire(self, now_s: float) -> None:
        """Those whose partition did not come back in time."""
        if self._records and now_s >= self._expires_s:
            self.cancel(list(self._records.values()))


def _in_any_turn(record: WorkItem) -> bool:
    """Its run may have begun before one of its session's elders'."""
    return record.order is None or not record.order.serial


def key_of(record: WorkItem) -> str:
    """`topic/partition/offset/leader epoch`: the same record, and not one that a new leader put in its place."""
    topic, partition = record.place
    return f"{topic}/{partition}/{record.offset}/{record.leader_epoch}"
