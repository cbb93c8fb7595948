"""Single file: after too many unclean ends each record is named by a transaction before it starts, and runs alone.

So a death while it runs convicts it and nobody else. Where our own predecessor wrote down
what it had started, the records that it had not are no suspects: they run beside each other, unnamed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from schemas.lane import LANES
from stream.exactly_once.committer import Committer
from stream.exactly_once.transaction import Ledger
from stream.exactly_once.work_item import WorkItem
from stream.log.base import Partition
from stream.worker.dependencies import EngineSide
from stream.worker.limits import WorkerLimits
from stream.worker.owned_partitions import OwnedPartitions
from workers.journal import StartJournal

_LOG = logging.getLogger(__name__)


class SingleFile:
    """Says which record may start now, and how far may be read ahead of it. Belongs to the Kafka thread."""

    def __init__(
        self,
        *,
        share: OwnedPartitions,
        runner: EngineSide,
        committer: Committer,
        journal: StartJournal,
        poison_deaths_max: int,
        clock_s: Callable[[], float],
        rules: WorkerLimits,
    ) -> None:
        self._share = share
        self._runner = runner
        self._committer = committer
        self._journal = journal
        self._deaths_max = poison_deaths_max - 1
        self._clock_s = clock_s
        self._rules = rules
        self._enough = False

    @property
    def on(self) -> bool:
        """Some partition's records have been there at too many unclean ends."""
        return any(book.deaths_past >= self._deaths_max for book in self._share.ledgers.values())

    # ---- reading ahead ---------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Whether enough was read, with hysteresis: a pause drops what was prefetched."""
        runnable = self._runnable()
        if runnable == 0:
            self._enough = False
        elif runnable >= self._rules.single_file_ahead_records_max or self._heavy():
            self._enough = True

    def has_enough(self, book: Ledger) -> bool:
        """Nothing more of this partition is to be read now. A convicted record must come by all the same."""
        if book.convicted is not None:
            return False
        unfinished = len(book.open) - len(book.ready)
        return self._enough or unfinished >= self._rules.single_file_ahead_records_max

    def _heavy(self) -> bool:
        bytes_max = self._rules.single_file_ahead_bytes_max
        return self._share.open_bytes >= bytes_max and self._share.count_open_bytes() >= bytes_max

    def _runnable(self) -> int:
        """Records that wait for nothing but their turn."""
        return sum(
            record.ledger is not None
            and record.ledger.convicted is None
            and record.ledger.partition not in self._share.stalled
            for queue in self._share.waiting.values()
            for record in queue
        )

    # ---- one at a time ---------------------------------------------------------------------------------------------

    def next(self) -> WorkItem | None:
        """The record that may start now. One that is named has nothing beside it, and all that had ended is committed."""
        running = bool(self._runner.running or self._share.running)
        named = any(book.trying is not None for book in self._share.ledgers.values())
        if (running and named) or self._committer.blocked(self._clock_s()):
            return None
        if not named and (record := self._take(cleared_only=True)) is not None:
            return record
        # What has ended and was not taken back yet still stands in its map as `trying`: name no other beside it.
        if running:
            return None
        if not self._committer.drain(self._clock_s() + self._rules.stall_s):
            self._pass_by()
            return None
        if not self.on:  # the last suspect was among what is committed now: others will run beside the next
            return None
        record = self._take()
        if record is None or self._cleared(record) or self._name(record):
            return record
        self._share.waiting[record.lane].appendleft(record)
        return None

    def cancel_trial(self, ledger: Ledger) -> None:
        """Named and not running, its record would be convicted by somebody else's death.

        Until a commit has taken its name out of the map, the evidence must go on saying that it does not run.
        """
        ledger.cancel_trial()

    def _name(self, record: WorkItem) -> bool:
        """True: it is committed that this record runs alone."""
        ledger, work = record.ledger, record.work
        assert ledger is not None, "only records of owned partitions are taken"
        assert work is not None, "only readable work records wait"
        place = f"{ledger.partition.topic}/{ledger.partition.partition}/{record.offset}"
        self._journal.evidence.named(place, ledger.deaths_past + 1, work.source)
        ledger.try_alone(record.offset)
        if self._committer.progress_only() and ledger.named == record.offset:
            return True
        self.cancel_trial(ledger)
        return False

    def _cleared(self, record: WorkItem) -> bool:
        """Our predecessor died, and had not started it: it is no suspect."""
        ledger, work = record.ledger, record.work
        assert ledger is not None, "only records of owned partitions are taken"
        assert work is not None, "only readable work records wait"
        if ledger.deaths_past < self._deaths_max:
            return False
        own = self._journal.evidence.own_death(name_of(ledger.partition), ledger.deaths_past)
        return own and not self._journal.started_before(work.source)

    def _take(self, *, cleared_only: bool = False) -> WorkItem | None:
        """The next record, passing over partitions whose convicted record has not come by, or that wait for a registry."""
        for lane in LANES:
            queue = self._share.waiting[lane]
            for place, record in enumerate(queue):
                book = record.ledger
                if book is None or book.partition in self._share.stalled:
                    continue
                if not record.is_next or self._waits_for_condemned(book):
                    continue
                if cleared_only and not self._cleared(record):
                    return None
                del queue[place]
                return record
        return None

    def _waits_for_condemned(self, book: Ledger) -> bool:
        """Its convicted record must be ended before another is named; unless nothing is read before it comes by."""
        if book.convicted in book.open:
            book.convicted = (
                None  # ended, but its dead letter waits for an elder of its session, which must run
            )
        if book.convicted is None:
            return False
        if book.room and book.partition not in self._share.paused:
            return True
        _LOG.error(
            "%s: record %d was to be ended as poison, but does not come by", book.partition, book.convicted
        )
        book.convicted = None
        return False

    def _pass_by(self) -> None:
        """What is ready does not go: a reply topic may take nothing. That all else does tells it from a broker in trouble.

        A record that has been answered is named no longer: it would be convicted by somebody else's death.
        """
        for book in self._share.ledgers.values():
            book.dirty = True
            if book.trying is not None and book.trying in book.ready:
                self.cancel_trial(book)
        self._committer.progress_only()


def name_of(partition: Partition) -> str:
    """As the journal calls it."""
    return f"{partition.topic}/{partition.partition}"
