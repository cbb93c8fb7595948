"""RUNNING -> DONE: outputs are written, and may go once those of the session's elders may."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from schemas.failure import Failure
from stream.errors import LedgerBroken
from stream.exactly_once.session_order import SessionKey, SessionOrder
from stream.exactly_once.work_item import OWN, WorkItem
from stream.worker.outputs import OutputWriter
from stream.worker.owned_partitions import OwnedPartitions
from workers.call import Finished


class Completion:
    """Takes ends of calls, and of records that never ran."""

    def __init__(
        self,
        share: OwnedPartitions,
        writer: OutputWriter,
        clock_s: Callable[[], float],
        reach: Callable[[str], None],
    ) -> None:
        self._share = share
        self._writer = writer
        self._clock_s = clock_s
        self._reach = reach

    def take(self, ends: Iterable[Finished]) -> list[WorkItem]:
        """Gives the records that ended. An end that nobody waits for was cancelled a moment before."""
        running = self._share.running
        ended: list[WorkItem] = []
        for finished in ends:
            record = running.pop(finished.id, None)
            if record is None:
                continue
            record.running = False
            record.finished = finished
            if type(finished.outcome) is Failure:
                record.failure = finished.outcome
            ended.append(record)
            if record.ledger is not None:  # else it waits to be adopted
                self.done(record)
        return ended

    def fail(self, record: WorkItem, failure: Failure) -> None:
        """It ends without a call."""
        record.failure = failure
        self.done(record)

    def done(self, record: WorkItem) -> None:
        """Its outputs are there. They are ready for a transaction in its turn, and so are those that waited for it."""
        self._writer.write(record)
        order, session = record.order, record.session
        if order is None or session is None:
            self._ready(record)
        else:
            self._in_turn(order, session, record)
        self._reach("done")

    def _in_turn(self, order: SessionOrder[WorkItem], session: SessionKey, record: WorkItem) -> None:
        released = order.finish(session, record, record.size_bytes)
        for each in released:
            if each is not record and each.target is not OWN:
                self._writer.write(each)  # what is known of its reply topic may have changed while it waited
            self._ready(each)
        if order.serial and released and (follower := order.first(session)) is not None:
            self._share.waiting[follower.lane].append(follower)

    def _ready(self, record: WorkItem) -> None:
        ledger = record.ledger
        if ledger is None:
            raise LedgerBroken(f"offset {record.offset} ended, but its partition is gone")
        record.ready_s = self._clock_s()
        ledger.finish(record.offset)
        self._share.ready.add(record)
