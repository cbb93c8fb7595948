"""The commit round: one transaction a turn, as long as something is due."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from schemas.lane import LANES
from stream.background_call import Meanwhile, nothing
from stream.exactly_once.bisection import Bisection
from stream.exactly_once.commit_interval import CommitInterval
from stream.exactly_once.ledger import PartitionLedger
from stream.exactly_once.offset_map import OffsetMap
from stream.exactly_once.offset_oracle import OffsetOracle
from stream.exactly_once.outcome import OutcomeMachine
from stream.exactly_once.pending_answers import Effects, PendingAnswers, Tally
from stream.exactly_once.ready_answers import ReadyAnswers
from stream.exactly_once.reply_topic_failures import ReplyTopicFailures
from stream.exactly_once.selection import Caps, choose_kind
from stream.exactly_once.transaction import Ledger, StageOf, make_transaction
from stream.exactly_once.work_item import OWN, WorkItem
from stream.log.base import (
    LogConsumer,
    LogProducer,
    Outcome,
    Partition,
    Success,
    nowhere,
)
from stream.retry import BackOff

#: First wait after an abort; doubled each time.
BACK_OFF_S: Final = 0.05
BACK_OFF_S_MAX: Final = 1.0
#: Something was due and could not go (no valid member, reply topics unknown): not again at once.
NOTHING_S: Final = 0.02
#: Progress without answers (markers passed over) is committed after so many intervals: it has no hurry, and an answer
#: that becomes ready meanwhile would wait for its transaction.
SWEEP_INTERVALS: Final = 5
#: A final commit that was aborted so often in a row is left to the next owner.
DRAIN_ABORTS_MAX: Final = 3
#: ... and one that does not get on at all, though its halving may take some tries.
DRAIN_FAILURES_MAX: Final = 50


@dataclass(frozen=True, slots=True)
class CommitPolicy:
    """When a transaction is due, and what it may hold."""

    #: At least so long answers of the lowest lane are gathered.
    interval_s: float
    caps: Caps


@dataclass(frozen=True, slots=True)
class Clients:
    """The log, as the committer uses it."""

    producer: LogProducer
    consumer: LogConsumer


@dataclass(frozen=True, slots=True)
class Seams:
    """Time, faults and, for the chaos suite alone, another way to make a ledger's part."""

    clock: Callable[[], float]
    reach: Callable[[str], None] = nowhere
    stage_of: StageOf = PartitionLedger.stage


class Committer:
    """Publishes ready answers. Belongs to the Kafka thread; never polls."""

    def __init__(
        self,
        *,
        clients: Clients,
        ledgers: Mapping[Partition, Ledger],
        ready: ReadyAnswers,
        foreign: ReplyTopicFailures,
        rules: CommitPolicy,
        seams: Seams,
        tally: Tally,
    ) -> None:
        self._consumer = clients.consumer
        self._ledgers = ledgers
        self._ready = ready
        self._foreign = foreign
        self._targets = foreign.targets
        self._own_partitions = sum(foreign.targets.partitions_of.values())
        self._rules = rules
        self._seams = seams
        self._narrowing = Bisection(rules.caps.records_max)
        self._effects = Effects(ready, foreign, self._narrowing, tally)
        self._back_off = BackOff(BACK_OFF_S, BACK_OFF_S_MAX)
        self._outcomes: OutcomeMachine[Mapping[Partition, OffsetMap | None]] = OutcomeMachine(
            clients.producer,
            OffsetOracle(clients.consumer, seams.clock),
            self._back_off,
            clock_s=seams.clock,
            reach=seams.reach,
        )
        self._pace = CommitInterval(rules.interval_s)
        self._not_before_s = 0.0
        self._swept_s = 0.0

    # ---- when ----------------------------------------------------------------------------------------------------

    def wait_s(self, now_s: float, *, pressed: bool = False) -> float:
        """Seconds until a transaction is due; 0: now. `pressed`: some partition is nearly full of ready answers."""
        if not len(self._ready):
            due_s = self._swept_s + self._sweep_s if self._any_dirty() else now_s + 60.0
        elif pressed or self._full() or any(self._ready.lanes[lane] for lane in LANES[:-1]):
            due_s = now_s
        else:
            due_s = next(iter(self._ready.lanes[LANES[-1]])).ready_s + self._pace.interval_s
        return max(0.0, max(due_s, self._not_before_s) - now_s)

    @property
    def interval_s(self) -> float:
        """So long answers of the lowest lane are gathered, as things are."""
        return self._pace.interval_s

    def blocked(self, now_s: float) -> bool:
        """The last transaction was aborted a moment ago."""
        return now_s < self._not_before_s

    @property
    def _sweep_s(self) -> float:
        return max(SWEEP_INTERVALS * self._rules.interval_s, self._pace.interval_s)

    def _full(self) -> bool:
        caps = self._rules.caps
        return len(self._ready) >= caps.records_max or self._ready.size_bytes >= caps.bytes_max

    def _any_dirty(self) -> bool:
        return any(book.dirty for book in self._ledgers.values())

    # ---- one transaction -------------------------------------------------------------------------------------------

    def turn(self, now_s: float, *, all_lanes: bool = False, meanwhile: Meanwhile = nothing) -> bool:
        """One transaction of what is due, with the progress of dirty partitions once an interval. True: it succeeded.

        `meanwhile` is called while Kafka is waited for; it must not begin another.
        """
        all_lanes, interval_s = all_lanes or self._full(), self._pace.interval_s
        own_only = bool(self._ready.foreign) and not self._foreign.look_up(now_s)
        lanes = self._ready.of(self._ready.due_lanes(now_s, interval_s, all_lanes=all_lanes))
        kind = OWN if own_only else self._kind(lanes, now_s - 2 * interval_s)
        choose = self._narrowing.select
        records = [] if kind is None else choose(lanes, kind, self._targets.kind, *self._room(kind))
        sweep = all_lanes or now_s - self._swept_s >= (interval_s if records else self._sweep_s)
        dirty = [book for book in self._ledgers.values() if book.dirty] if sweep else []
        if sweep:
            self._swept_s = now_s
        if self._transact(kind or OWN, records, dirty, meanwhile):
            return True
        self._not_before_s = max(self._not_before_s, now_s + NOTHING_S)
        return False

    def progress_only(self) -> bool:
        """A transaction without outputs: what the dirty ledgers have to say, now. True: it succeeded."""
        return self._transact(OWN, [], [book for book in self._ledgers.values() if book.dirty])

    def drain(self, deadline_s: float) -> bool:
        """Transactions until nothing is ready or dirty, or the clock passes `deadline_s`; True: nothing is left."""
        failures, before = 0, self._back_off.failures
        while len(self._ready) or self._any_dirty():
            now_s = self._seams.clock()
            hopeless = self._back_off.failures - before >= DRAIN_ABORTS_MAX or failures >= DRAIN_FAILURES_MAX
            if now_s >= deadline_s or hopeless or not self._consumer.group().valid:
                return False
            failures = 0 if self.turn(now_s, all_lanes=True) else failures + 1
        return True

    def _kind(self, lanes: Sequence[Iterable[WorkItem]], overdue_before_s: float) -> str | None:
        return choose_kind(lanes, self._targets.kind, overdue_before_s, self._targets.doubted)

    def _room(self, kind: str) -> tuple[Caps, Mapping[str, int]]:
        caps = self._rules.caps
        bytes_max = min(caps.bytes_max, self._targets.bytes_max(kind))
        counted = kind != OWN or self._own_partitions > (caps.partitions_max or 0)
        partitions_max = caps.partitions_max if counted else None
        return Caps(self._narrowing.cap(kind), bytes_max, partitions_max), self._targets.partitions_of

    def _transact(
        self,
        kind: str,
        records: list[WorkItem],
        dirty: Iterable[Ledger],
        meanwhile: Meanwhile = nothing,
    ) -> bool:
        plan = make_transaction(kind, records, dirty, self._seams.stage_of)
        if not plan.stages:
            return False
        pending = PendingAnswers(plan, self._effects)
        began_s = self._seams.clock()
        outcome = self._publish(pending, meanwhile)
        took_s = self._seams.clock() - began_s
        self._effects.tally.ended(outcome, plan, took_s)
        if isinstance(outcome, Success):
            self._pace.took(took_s)
        return self._settle(pending, outcome)

    def _publish(self, pending: PendingAnswers, meanwhile: Meanwhile) -> Outcome:
        """Without a valid generation and member id nothing is begun: the outcome is Aborted, and poll comes next."""
        return self._outcomes.publish(pending, self._consumer.group(), meanwhile)

    def _settle(self, pending: PendingAnswers, outcome: Outcome) -> bool:
        failures = self._back_off.failures
        if self._outcomes.settle(pending, outcome):
            return True
        if self._back_off.failures > failures:
            self._not_before_s = self._seams.clock() + self._back_off.pause_s
        return False
