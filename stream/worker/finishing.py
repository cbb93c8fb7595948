"""RUNNING -> DONE: outputs are written, the session's next record may start."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from schemas.failure import Failure
from stream.commit.open_record import OpenRecord
from stream.errors import LedgerBroken
from stream.worker.outputs import OutputWriter
from stream.worker.share import Share
from workers.call import Finished


class Finishing:
    """Takes ends of calls, and of records that never ran."""

    def __init__(
        self,
        share: Share,
        writer: OutputWriter,
        clock_s: Callable[[], float],
        reach: Callable[[str], None],
    ) -> None:
        self._share = share
        self._writer = writer
        self._clock_s = clock_s
        self._reach = reach

    def take(self, ends: Iterable[Finished]) -> list[OpenRecord]:
        """Gives the records that ended. An end that nobody waits for was cancelled a moment before."""
        running = self._share.running
        ended: list[OpenRecord] = []
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

    def fail(self, record: OpenRecord, failure: Failure) -> None:
        """It ends without a call."""
        record.failure = failure
        self.done(record)

    def done(self, record: OpenRecord) -> None:
        """Its outputs are ready for a transaction; its session's next record may start."""
        ledger = record.ledger
        if ledger is None:
            raise LedgerBroken(f"offset {record.offset} ended, but its partition is gone")
        self._writer.write(record)
        record.ready_s = self._clock_s()
        ledger.finish(record.offset)
        self._share.ready.add(record)
        self._reach("done")
        if record.order is not None and record.session is not None:
            follower = record.order.done(record.session)
            if follower is not None:
                self._share.waiting[follower.lane].append(follower)
