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
from stream.commit.committer import Committer
from stream.commit.open_record import OpenRecord
from stream.commit.plan import Ledger
from stream.log.base import Partition
from stream.worker.adoption import key_of
from stream.worker.finishing import Finishing
from stream.worker.parts import EngineSide
from stream.worker.rules import Rules
from stream.worker.share import Share
from workers.call import Call
from workers.endpoint import Endpoint
from workers.lanes import LaneTurns

_LOG = logging.getLogger(__name__)


class HandOver:
    """FETCHED -> RUNNING. Belongs to the Kafka thread."""

    def __init__(  # noqa: PLR0913 - its parts, by name
        self,
        *,
        share: Share,
        runner: EngineSide,
        committer: Committer,
        finishing: Finishing,
        decoder: Decoder,
        endpoint: Endpoint,
        clock_s: Callable[[], float],
        rules: Rules,
    ) -> None:
        self._share = share
        self._runner = runner
        self._committer = committer
        self._finishing = finishing
        self._decoder = decoder
        self._endpoint = endpoint
        self._clock_s = clock_s
        self._stall_s = rules.stall_s
        self._ready_bytes_max = rules.ready_bytes_max
        self._turns = LaneTurns()
        self._calls = 0
        #: Partitions that wait for the schema registry, with what would have started there, in order.
        self._stalled: dict[Partition, deque[OpenRecord]] = {}
        self._again_s = 0.0

    def start(self) -> int:
        """Hand over what may start now; how many calls that were."""
        if self._stalled and self._clock_s() >= self._again_s:
            self._try_stalled_again()
        if self.full or not self._share.waiting_count or not self._counted():
            return 0
        return self._start_one() if self.single_file else self._fill()

    def refill(self) -> int:
        """As `start`, while a transaction is under way: only what needs no other."""
        books = self._share.ledgers.values()
        if self.full or self.single_file or not all(book.counted for book in books):
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
    def single_file(self) -> bool:
        """Some partition's records have been there at too many unclean ends."""
        deaths = self._endpoint.poison_deaths_max - 1
        return any(book.deaths_past >= deaths for book in self._share.ledgers.values())

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
        self._committer.progress_only()
        return all(book.counted for book in books)

    def _start_one(self) -> int:
        """Single file: nothing else runs, everything finished is committed, and the map names the next record."""
        # What has ended and was not taken back yet still stands in its map as `trying`: name no other beside it.
        if self._runner.running or self._share.running or self._committer.blocked(self._clock_s()):
            return 0
        if not self._committer.drain(self._clock_s() + self._stall_s):
            self._pass_by()
            return 0
        record = self._next_alone()
        if record is None or record.ledger is None:
            return 0
        record.ledger.try_alone(record.offset)
        if not self._committer.progress_only() or record.ledger.named != record.offset:
            record.ledger.let_be()  # named and not running, it would be convicted by somebody else's death
            self._share.waiting[record.lane].appendleft(record)
            return 0
        calls: list[Call] = []
        self._append(record, calls)
        if record.ledger.partition in self._stalled:
            record.ledger.let_be()  # it waits for the registry, and somebody else's death must not be laid to it
        self._runner.submit(calls)
        return len(calls)

    def _pass_by(self) -> None:
        """What is ready does not go: a reply topic may take nothing. That all else does tells it from a broker in trouble.

        A record that has been answered is named no longer: it would be convicted by somebody else's death.
        """
        for book in self._share.ledgers.values():
            book.dirty = True
            if book.trying is not None and book.trying in book.ready:
                book.let_be()
        self._committer.progress_only()

    def _next_alone(self) -> OpenRecord | None:
        """The next record, passing over partitions whose convicted record has not come by, or that wait for a registry."""
        for lane in LANES:
            queue = self._share.waiting[lane]
            for place, record in enumerate(queue):
                book = record.ledger
                if book is None or book.partition in self._stalled:
                    continue
                if _is_next(record) and not self._waits_for_condemned(book):
                    del queue[place]
                    return record
        return None

    def _waits_for_condemned(self, book: Ledger) -> bool:
        """Its convicted record must be ended before another is named; unless nothing is read before it comes by."""
        if book.condemned is None:
            return False
        if book.condemned in book.open:
            book.condemned = (
                None  # ended, but its dead letter waits for an elder of its session: that one must run
            )
            return False
        if book.room and book.partition not in self._share.paused:
            return True
        _LOG.error(
            "%s: record %d was to be ended as poison, but does not come by", book.partition, book.condemned
        )
        book.condemned = None
        return False

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
            queue, passed_over = self._share.waiting[lane], deque[OpenRecord]()
            while queue and len(calls) < count:
                record = queue.popleft()
                if record.ledger is None:
                    continue
                if _is_next(record):
                    self._append(record, calls)
                else:
                    passed_over.append(record)
            queue.extendleft(reversed(passed_over))

    def _append(self, record: OpenRecord, calls: list[Call]) -> None:
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
        calls.append(Call(call_id, request, work.source, work.tenant, record.lane, work.deadline_ms))

    # ---- waiting for the schema registry -----------------------------------------------------------------------------

    def _stall(self, record: OpenRecord, partition: Partition, error: RegistryUnavailable) -> None:
        """Only the partitions that need the registry wait for it."""
        _LOG.warning("%s waits: %s", partition, error)
        self._stalled[partition] = deque([record])
        self._again_s = self._clock_s() + self._stall_s

    def _try_stalled_again(self) -> None:
        stalled, self._stalled = self._stalled, {}
        for records in stalled.values():
            for record in reversed(records):
                if record.ledger is not None:
                    self._share.waiting[record.lane].appendleft(record)


def _is_next(record: OpenRecord) -> bool:
    """No elder of its session is still to finish."""
    return record.order is None or record.session is None or record.order.is_first(record.session, record)
