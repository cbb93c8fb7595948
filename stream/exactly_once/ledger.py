"""The ledger of one partition: what was delivered, what is open, and the (base, map) that a transaction commits.

Kept small: `open` holds every record delivered and not committed; everything else below `next_seen` is done. What the
loaded map calls incomplete and was not delivered yet stands in `_loaded`. So memory is bounded by the open records.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from stream.errors import LedgerBroken, MapUnreadable
from stream.exactly_once.offset_map import OffsetMap, encode
from stream.log.base import Partition

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LedgerLimits:
    """What keeps the map under its 4095 characters: no heuristics, no stripping."""

    #: K: records delivered and not committed (held, running, ready).
    open_records_max: int = 1_600
    #: SPAN: offsets from base to the last delivered.
    span_offsets_max: int = 100_000
    #: The first so many records from base on can have been running when a predecessor died.
    suspects_max: int = 32


@dataclass(frozen=True, slots=True)
class Stage:
    """One partition's part of a transaction: made in one read of the ledger, valid until its outcome is known."""

    base: int
    metadata: str
    #: Offsets whose outputs the transaction carries.
    sources: frozenset[int]
    #: The past deaths were forgiven in this map.
    forgiven: bool = False
    #: This process counts as dead in this map unless it unmarks.
    marked: bool = False
    #: The record that this map names: it runs alone.
    trying: int | None = None


class PartitionLedger(Generic[T]):
    """Not thread-safe: one thread delivers, finishes and commits."""

    def __init__(self, partition: Partition, loaded: OffsetMap, log_end: int, limits: LedgerLimits) -> None:
        self.partition = partition
        self.limits = limits
        self.base = loaded.base
        self.next_seen = loaded.base
        #: Delivered and not committed, in order of offset.
        self.open: dict[int, T] = {}
        #: Of `open`: finished, waiting for a transaction, in order of finishing.
        self.ready: dict[int, T] = {}
        #: The base or the map changed since the last commit.
        self.dirty = False
        self._loaded = deque(loaded.incomplete)
        self._loaded_hi = loaded.hi
        self._fresh = True
        self._staged: Stage | None = None
        #: (base, metadata) of the last commit known to have succeeded in this assignment.
        self.committed: tuple[int, str] | None = None
        #: Unclean ends before this assignment; forgotten when every suspect is done.
        self.deaths_past = loaded.deaths if log_end > loaded.base else 0
        #: This process's own end is to count as unclean; `counted` once a commit says so: only then may work start.
        self.marked = False
        self.counted = False
        #: A predecessor died while this record ran alone: it is poison.
        self.convicted = loaded.trying
        #: The record that is to run single file; it may start once it is `named` by a commit.
        self.trying: int | None = None
        self.named: int | None = None
        self._suspects_left = limits.suspects_max
        self._suspect_last = log_end - 1

    # ---- reading -------------------------------------------------------------------------------------------------

    def deliver(self, offset: int, record: T) -> bool:
        """A record arrived. True: it is open now and must get an output. False: the map says that it is done.

        What lies between the last delivered offset and this one never arrives and is done. MapUnreadable when the
        first record after the assignment lies below base (topic recreated); LedgerBroken when a later one goes back.
        """
        if offset != self.next_seen:
            self._pass_over(offset)
        self._fresh = False
        self.next_seen = offset + 1
        if offset <= self._loaded_hi:
            if not self._loaded or self._loaded[0] != offset:
                return False
            self._loaded.popleft()
        self.open[offset] = record
        if self._suspects_left:
            self._suspects_left -= 1
            if not self._suspects_left:
                self._suspect_last = min(self._suspect_last, offset)
        return True

    def end(self, offset: int) -> None:
        """The reader has seen everything below `offset`: what was not delivered is a gap."""
        if offset > self.next_seen:
            self._pass_over(offset)
            self.next_seen = offset

    def pass_done(self, offset: int) -> bool:
        """What stands at `offset` cannot be read: go on after it, as far as the map says it is done. False: it is not.

        All below `offset` was delivered.
        """
        if offset > self._loaded_hi:
            return False
        target = next((left for left in self._loaded if left >= offset), self._loaded_hi + 1)
        if target <= max(offset, self.next_seen):
            return False
        self._pass_over(target)
        self._fresh = False
        self.next_seen = target
        return True

    def _pass_over(self, offset: int) -> None:
        if offset < self.next_seen:
            words = f"{self.partition}: offset {offset} after {self.next_seen - 1}: the topic was recreated, or cut back"
            raise MapUnreadable(words) if self._fresh else LedgerBroken(words)
        while self._loaded and self._loaded[0] < offset:
            self._loaded.popleft()
        self.dirty = True

    @property
    def room(self) -> int:
        """Records that may still be delivered before K or SPAN is reached; 0 means pause."""
        if self.next_seen - self.base >= self.limits.span_offsets_max:
            return 0
        return max(0, self.limits.open_records_max - len(self.open))

    # ---- committing ----------------------------------------------------------------------------------------------

    def finish(self, offset: int) -> None:
        """RUNNING -> DONE: the record's outputs are there."""
        if offset in self.ready or offset not in self.open:
            raise LedgerBroken(f"{self.partition}: offset {offset} finished, but it is not running")
        self.ready[offset] = self.open[offset]

    def stage(self, sources: Collection[int] = ()) -> Stage:
        """The new base and the map with `sources` done: both from one read. DONE -> STAGED."""
        chosen = frozenset(sources)
        if self._staged is not None:
            raise LedgerBroken(f"{self.partition}: a transaction is under way")
        if not chosen <= self.ready.keys():
            raise LedgerBroken(f"{self.partition}: {sorted(chosen - self.ready.keys())} are not ready")
        after = self._map_without(chosen)
        forgiven = after.base > self._suspect_last
        deaths = (0 if forgiven else self.deaths_past) + self.marked
        trying = next(
            (o for o in (self.convicted, self.trying) if o is not None and not after.says_done(o)), None
        )
        text = encode(OffsetMap(after.base, after.hi, after.incomplete, deaths, trying))
        self._staged = Stage(after.base, text, chosen, forgiven, self.marked, trying)
        return self._staged

    def commit(self, stage: Stage) -> list[T]:
        """STAGED -> COMMITTED: the transaction is known to have succeeded. Gives the records to drop."""
        self._end_of(stage)
        if stage.base < self.base:
            raise LedgerBroken(f"{self.partition}: base would go back from {self.base} to {stage.base}")
        dropped = [self.open.pop(offset) for offset in stage.sources]
        for offset in stage.sources:
            del self.ready[offset]
        self.base = stage.base
        self.dirty = False
        self.committed = (stage.base, stage.metadata)
        self._settle_deaths(stage)
        return dropped

    def _settle_deaths(self, stage: Stage) -> None:
        self.counted, self.named = stage.marked, stage.trying
        if stage.forgiven:
            self.deaths_past = 0
        if self.convicted is not None and self.convicted != stage.trying:
            self.convicted = None
        if self.trying in stage.sources:
            self.trying = None

    def abort(self, stage: Stage) -> None:
        """STAGED -> DONE: known not to be committed."""
        self._end_of(stage)

    def reconcile(self, stage: Stage, found: OffsetMap | None) -> list[T]:
        """The outcome of `stage` was unknown; `found` is what is committed now. Gives the records to drop.

        A source that `found` calls done is COMMITTED, any other is DONE again: the map is the oracle.
        """
        done = [] if found is None else [offset for offset in stage.sources if found.says_done(offset)]
        if (
            found is not None
            and len(done) == len(stage.sources)
            and (done or encode(found) == stage.metadata)
        ):
            return self.commit(stage)
        self.abort(stage)
        self.dirty, self.committed = True, None
        for offset in done:
            del self.ready[offset]
        return [self.open.pop(offset) for offset in done]

    def _end_of(self, stage: Stage) -> None:
        if self._staged is not stage:
            raise LedgerBroken(f"{self.partition}: the end of a transaction that is not under way")
        self._staged = None

    def _map_without(self, chosen: Collection[int]) -> OffsetMap:
        incomplete = [offset for offset in self.open if offset not in chosen]
        incomplete.extend(self._loaded)
        hi = self._loaded_hi if self._loaded_hi >= self.next_seen else self._highest_done(incomplete)
        if not incomplete:
            return OffsetMap.empty(hi + 1)
        base = incomplete[0]
        if hi < base:
            return OffsetMap.empty(base)
        return OffsetMap(base, hi, tuple(_below(incomplete, hi)))

    def _highest_done(self, incomplete: list[int]) -> int:
        """Walk down from the last offset seen through those that are not done."""
        hi = self.next_seen - 1
        for offset in reversed(incomplete):
            if offset != hi:
                break
            hi -= 1
        return hi

    # ---- deaths (poison) -----------------------------------------------------------------------------------------

    def mark(self) -> None:
        """From the next commit on this process counts as dead, unless it unmarks."""
        self.marked = self.dirty = True

    def unmark(self) -> None:
        """A clean end: the next commit writes the deaths back and clears `trying`."""
        self.marked, self.trying, self.dirty = False, None, True

    def try_alone(self, offset: int) -> None:
        """Single file: the next commit names `offset`, which may start once that commit has succeeded."""
        self.trying, self.dirty = offset, True

    def cancel_trial(self) -> None:
        """It does not start after all: no map may go on naming it."""
        self.trying, self.dirty = None, True


def _below(incomplete: Iterable[int], hi: int) -> list[int]:
    return [offset for offset in incomplete if offset < hi]
