"""What the group tells: partitions come with a map or not at all, and leave with a last commit."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from stream.errors import MapUnreadable
from stream.exactly_once.committer import Committer
from stream.exactly_once.ledger import LedgerLimits, PartitionLedger
from stream.exactly_once.offset_map import OffsetMap, decode
from stream.exactly_once.work_item import WorkItem
from stream.log.base import Committed, LogAdmin, LogConsumer, Partition, Watermarks
from stream.metrics.base import Metrics
from stream.retry import retry_until
from stream.worker.in_flight import InFlightCalls
from stream.worker.limits import WorkerLimits
from stream.worker.owned_partitions import OwnedPartitions, Quarantine
from workers.evidence import Keeper

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Position:
    """Where a partition is read on from, and the ledger that knows what is done; or why it is quarantined."""

    begin: int
    ledger: PartitionLedger[WorkItem] | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Left:
    """What this process itself committed last in a partition that went without a clean end, its own death mark in it."""

    committed: tuple[int, str]
    #: The map names a record that a predecessor's death convicts, not one that ran here.
    convicted: bool

    @classmethod
    def of(cls, ledger: PartitionLedger[WorkItem]) -> Left | None:
        if not ledger.counted or ledger.committed is None:
            return None
        return cls(ledger.committed, ledger.convicted is not None)

    def without_us(self, found: OffsetMap) -> OffsetMap:
        """We live: our mark is no death, and what ran here alone has killed nobody."""
        trying = found.trying if self.convicted else None
        return replace(found, deaths=max(0, found.deaths - 1), trying=trying)


def position_of(
    partition: Partition,
    committed: Committed | None,
    marks: Watermarks,
    limits: LedgerLimits,
    left: Left | None = None,
) -> Position:
    """From what is committed and what the log still has: pure. Nothing committed: the log's first offset."""
    offset, metadata = committed if committed is not None else (marks.low, "")
    try:
        loaded = decode(metadata, offset, marks.high)
    except MapUnreadable as error:
        return Position(min(max(offset, marks.low), marks.high), None, str(error))
    if left is not None and left.committed == committed:
        loaded = left.without_us(loaded)
    if committed is not None and not metadata:
        _LOG.warning("%s: no map at offset %d: nothing above it counts as done", partition, offset)
    ledger = PartitionLedger[WorkItem](partition, loaded, marks.high, limits)
    ledger.committed = committed
    return Position(max(offset, marks.low), ledger)


class Assignment:
    """The group's listener: called inside `poll` and `close`. What it raises ends the process."""

    def __init__(  # noqa: PLR0913 - its parts, by name
        self,
        *,
        share: OwnedPartitions,
        orphans: InFlightCalls,
        committer: Committer,
        consumer: LogConsumer,
        admin: LogAdmin,
        limits: LedgerLimits,
        rules: WorkerLimits,
        clock_s: Callable[[], float],
        metrics: Metrics,
        evidence: Keeper,
    ) -> None:
        self._share = share
        self._orphans = orphans
        self._committer = committer
        self._consumer = consumer
        self._admin = admin
        self._limits = limits
        self._rules = rules
        self._clock_s = clock_s
        self._metrics = metrics
        self._evidence = evidence
        #: Of partitions that went without a clean end; a successor's commit makes it worthless.
        self._left: dict[Partition, Left] = {}
        #: After a crash nothing is committed any more.
        self.crashed = False

    def assigned(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        found, marks = self._read(partitions)
        begin: dict[Partition, int] = {}
        for partition in partitions:
            left = self._left.pop(partition, None)
            position = position_of(partition, found[partition], marks[partition], self._limits, left)
            begin[partition] = position.begin
            if position.ledger is None:
                self._set_aside(partition, position.problem, found[partition])
            else:
                self._count_gap(position.ledger, marks[partition])
                self._acquit(position.ledger)
                self._share.own(partition, position.ledger)
        self._consumer.resume([p for p in partitions if p in self._share.ledgers])
        self._orphans.returned(partitions, {p: at for p, at in found.items() if at is not None})
        self._share.joined = True
        _LOG.info("assigned %d partitions, %d open maps", len(partitions), len(self._share.ledgers))
        return begin

    def revoked(self, partitions: Sequence[Partition]) -> None:
        """One final commit, bounded; it also takes back this process's death mark."""
        if self.crashed:
            return
        now_s = self._clock_s()
        for partition in partitions:
            ledger = self._share.ledgers.get(partition)
            if ledger is not None and ledger.marked:
                ledger.unmark()
        if not self._committer.drain(now_s + self._rules.revoke_s):
            _LOG.warning("a final commit was not complete: the next owner runs what is left")
            self._committer.progress_only()  # what cannot be published must not cost us the end of our death mark
        if not any(ledger.counted for p in partitions if (ledger := self._share.ledgers.get(p)) is not None):
            self._evidence.released()
        else:
            self._evidence.outlived()
        self._orphans.keep(self._drop(partitions), self._clock_s())

    def lost(self, partitions: Sequence[Partition]) -> None:
        self._evidence.outlived()
        _LOG.warning("lost %d partitions: nothing of them is committed", len(partitions))
        self._orphans.forget(self._drop(partitions))

    def _acquit(self, ledger: PartitionLedger[WorkItem]) -> None:
        """The record that the map names had not started when our predecessor died, or had ended."""
        place = f"{ledger.partition.topic}/{ledger.partition.partition}/{ledger.convicted}"
        if ledger.convicted is not None and self._evidence.acquits(place, ledger.deaths_past):
            _LOG.warning("%s was to run alone, but did not when the process died: it is not convicted", place)
            ledger.convicted = None

    def _drop(self, partitions: Sequence[Partition]) -> list[PartitionLedger[WorkItem]]:
        dropped = self._share.drop(partitions)
        for ledger in dropped:
            left = Left.of(ledger)
            if left is not None:
                self._left[ledger.partition] = left
        return dropped

    def _read(
        self, partitions: Sequence[Partition]
    ) -> tuple[Mapping[Partition, Committed | None], Mapping[Partition, Watermarks]]:
        """Waits for a predecessor's open transaction; LogTimeout in the end: nothing is dispatched without a map."""
        if not partitions:
            return {}, {}
        deadline_s = self._clock_s() + self._rules.offsets_s
        found = retry_until(lambda s: self._consumer.committed(partitions, s), deadline_s, self._clock_s)
        marks = retry_until(lambda s: self._admin.watermarks(partitions, s), deadline_s, self._clock_s)
        return found, marks

    def _set_aside(self, partition: Partition, problem: str, committed: Committed | None) -> None:
        _LOG.error("%s is quarantined: %s; see `headrace quarantine`", partition, problem)
        self._share.quarantined[partition] = Quarantine(problem, committed)
        self._consumer.pause([partition])

    def _count_gap(self, ledger: PartitionLedger[WorkItem], marks: Watermarks) -> None:
        gap = marks.low - ledger.base
        if gap > 0:
            _LOG.error("%s: %d offsets below the log start were never read", ledger.partition, gap)
            self._metrics.count("headrace_gap_records_total", gap, topic=ledger.partition.topic)
