"""Waiting records into the engine: as many as slots are free, the highest lane first, and nothing before its death count.

Before the first start after an assignment one transaction counts this process as dead, until a clean end takes that
back. After too many unclean ends records go single file, over all partitions: each is named by a transaction before it
starts, so that a death while it runs convicts it and nobody else.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable

from schemas.decode import Decoder
from schemas.errors import BadRecord, RegistryUnavailable
from schemas.lane import LANES, Lane
from stream.exactly_once.committer import Committer
from stream.exactly_once.work_item import WorkItem
from stream.log.base import Partition
from stream.worker.completion import Completion
from stream.worker.dependencies import EngineSide
from stream.worker.in_flight import key_of
from stream.worker.limits import WorkerLimits
from stream.worker.owned_partitions import OwnedPartitions
from stream.worker.single_file import SingleFile, name_of
from workers.call import Call
from workers.endpoint import Endpoint
from workers.journal import StartJournal
from workers.lanes import LaneTurns

_LOG = logging.getLogger(__name__)


class Scheduler:
    """FETCHED -> RUNNING. Belongs to the Kafka thread."""

    def __init__(  # noqa: PLR0913 - its parts, by name
        self,
        *,
        share: OwnedPartitions,
        runner: EngineSide,
        committer: Committer,
        finishing: Completion,
        decoder: Decoder,
        endpoint: Endpoint,
        single_file: SingleFile,
        journal: StartJournal,
        clock_s: Callable[[], float],
        rules: WorkerLimits,
    ) -> None:
        self._share = share
        self._runner = runner
        self._committer = committer
        self._finishing = finishing
        self._decoder = decoder
        self._endpoint = endpoint
        self._single_file = single_file
        self._journal = journal
        self._clock_s = clock_s
        self._stall_s = rules.stall_s
        self._ready_bytes_max = rules.ready_bytes_max
        self._turns = LaneTurns()
        self._calls = 0
        self._stalled = share.stalled
        self._again_s = 0.0

    def start(self) -> int:
        """Hand over what may start now; how many calls that were."""
        if self._stalled and self._clock_s() >= self._again_s:
            self._try_stalled_again()
        if self.full or not self._share.waiting_count or not self._counted():
            return 0
        return self._start_alone() if self._single_file.on else self._fill()

    def refill(self) -> int:
        """As `start`, while a transaction is under way: only what needs no other."""
        books = self._share.ledgers.values()
        if self.full or self._single_file.on or not all(book.counted for book in books):
            return 0
        return self._fill()

    @property
    def full(self) -> bool:
        """No call may be handed over now."""
        return self._free() <= 0

    def _free(self) -> int:
        """Calls that may be handed over now."""
        if self._share.ready.size_bytes > self._ready_bytes_max:
            return 0
        return self._endpoint.slots + self._runner.ahead - self._runner.running

    def _fill(self) -> int:
        free = self._free()
        waiting = {lane: len(self._share.waiting[lane]) for lane in LANES}
        calls: list[Call] = []
        if self._share.held_bytes > self._ready_bytes_max:
            self._take_first(free, calls)
        else:
            for lane, count in self._turns.share(waiting, free):
                self._take(lane, count, calls)
        self._runner.submit(calls)
        return len(calls)

    @property
    def stalled(self) -> int:
        """Records that wait for the schema registry."""
        return sum(map(len, self._stalled.values()))

    # ---- deaths ----------------------------------------------------------------------------------------------------

    def _counted(self) -> bool:
        """This process counts as dead in every map from now on. False: not yet committed, nothing may start."""
        books = [book for book in self._share.ledgers.values() if not book.counted]
        if not books:
            return True
        for book in books:
            if not book.marked:
                book.mark()
        if self._committer.blocked(self._clock_s()):
            return False
        ours = self._share.ledgers.values()
        self._journal.evidence.marked({name_of(book.partition): book.deaths_past + 1 for book in ours})
        self._committer.progress_only()
        return all(book.counted for book in books)

    def _start_alone(self) -> int:
        """Single file, as far as it goes now: the record that is named, or such as are no suspects."""
        calls: list[Call] = []
        while len(calls) < self._free() and (record := self._single_file.next()) is not None:
            book = record.ledger
            named = book is not None and book.trying == record.offset
            self._append(record, calls, named=named)
            if book is not None and book.partition in self._stalled:
                if named:  # it waits for the registry, and somebody else's death must not be laid to it
                    self._single_file.cancel_trial(book)
                break
        self._runner.submit(calls)
        return len(calls)

    # ---- calls -----------------------------------------------------------------------------------------------------

    def _take(self, lane: Lane, count: int, calls: list[Call]) -> None:
        queue = self._share.waiting[lane]
        wanted = len(calls) + count
        while queue and len(calls) < wanted:
            record = queue.popleft()
            if record.ledger is not None:
                self._append(record, calls)

    def _take_first(self, count: int, calls: list[Call]) -> None:
        """Too much has finished and waits for elders: only what waits for none may start, or nothing would free it."""
        for lane in LANES:
            queue, passed_over = self._share.waiting[lane], deque[WorkItem]()
            while queue and len(calls) < count:
                record = queue.popleft()
                if record.ledger is None:
                    continue
                if record.is_next:
                    self._append(record, calls)
                else:
                    passed_over.append(record)
            queue.extendleft(reversed(passed_over))

    def _append(self, record: WorkItem, calls: list[Call], *, named: bool = False) -> None:
        """Decode at the last moment: what waits holds the original bytes only."""
        work, ledger = record.work, record.ledger
        assert work is not None, "only readable work records wait"
        assert ledger is not None, "only records of owned partitions wait"
        if self._stalled and ledger.partition in self._stalled:
            self._stalled[ledger.partition].append(record)
            return
        try:
            request = self._decoder.decode(work.value, work.format)
        except BadRecord as error:
            self._finishing.fail(record, error.failure)
            return
        except RegistryUnavailable as error:
            self._stall(record, ledger.partition, error)
            return
        self._calls += 1
        record.id = call_id = f"{key_of(record)}#{self._calls}"
        record.running = True
        self._share.running[call_id] = record
        calls.append(Call(call_id, request, work.source, work.tenant, record.lane, work.deadline_ms, named))

    # ---- waiting for the schema registry -----------------------------------------------------------------------------

    def _stall(self, record: WorkItem, partition: Partition, error: RegistryUnavailable) -> None:
        """Only the partitions that need the registry wait for it."""
        _LOG.warning("%s waits: %s", partition, error)
        self._stalled[partition] = deque([record])
        self._again_s = self._clock_s() + self._stall_s

    def _try_stalled_again(self) -> None:
        stalled = list(self._stalled.values())
        self._stalled.clear()
        for records in stalled:
            for record in reversed(records):
                if record.ledger is not None:
                    self._share.waiting[record.lane].appendleft(record)
