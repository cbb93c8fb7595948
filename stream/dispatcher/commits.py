"""One transaction after the other: the batch's outputs with the offsets of their inputs, whatever becomes of it."""

from __future__ import annotations

from collections.abc import Callable

from stream.config.settings import Limits
from stream.dispatcher.assignment import Assignment
from stream.dispatcher.batch import Batch, Batches
from stream.dispatcher.batch_transaction import BatchTransaction, Effects
from stream.dispatcher.dependencies import DispatcherDependencies
from stream.dispatcher.progress import CommittedMaps
from stream.exactly_once.offset_oracle import OffsetOracle
from stream.exactly_once.outcome import OutcomeMachine
from stream.log.base import LogProducer
from stream.retry import BackOff


def nothing_more() -> None:
    """The rest of a batch goes first: read nothing while Kafka takes a part of it."""


class Commits:
    """Decides when a transaction goes, and what is in it; the outcome machine settles what becomes of it."""

    def __init__(
        self,
        producer: LogProducer,
        owned: Assignment,
        batches: Batches,
        limits: Limits,
        parts: DispatcherDependencies,
        effects: Effects,
    ) -> None:
        self._owned = owned
        self._batches = batches
        self._bytes_max = limits.txn_bytes_max
        self._rules = rules = parts.rules
        self._clock_s = parts.clock_s
        self._effects = effects
        self._progress = effects.progress
        self._halving = effects.halving
        self._back_off = BackOff(rules.back_off_s, rules.back_off_max_s, rules.aborts_max_s)
        oracle = OffsetOracle(owned.consumer, parts.clock_s)
        self._outcomes: OutcomeMachine[CommittedMaps] = OutcomeMachine(
            producer, oracle, self._back_off, clock_s=parts.clock_s, reach=parts.reach
        )
        self._gap_since_s: float | None = None
        #: The group does not know us, or not as the owner: only a poll can tell what has become of our partitions.
        self._unknown_member = False

    @property
    def troubled(self) -> bool:
        """The last transaction failed, or could not begin: read nothing more before its batch is through."""
        return self._back_off.failures > 0 or self._unknown_member or self._halving.searching

    @property
    def back_off_s(self) -> float:
        """How long to serve callbacks only, before the next try."""
        return self._back_off.pause_s or (self._rules.back_off_s if self._unknown_member else 0.0)

    @property
    def gap_pending(self) -> bool:
        """Offsets without records wait for a transaction."""
        return self._gap_since_s is not None

    def commit(self, meanwhile: Callable[[], None], *, last: bool = False) -> None:
        """At most one transaction; nothing where nothing is to be done or the group does not know us.

        `meanwhile` is called while Kafka takes the records, where the whole batch goes. `last`: nothing will follow, so
        offsets without records go now.
        """
        self._unknown_member = False
        batch = self._batches.advance(self._owned.ends())
        count = batch.prefix(self._halving.cap, self._bytes_max)
        offsets = self._progress.offsets(batch.ends_of(count))
        if not offsets:
            self._nothing_to_commit(batch)
        elif count or last or not self._gap_can_wait():
            attributed = self.troubled or count == 1
            pending = BatchTransaction(batch, count, offsets, self._effects, attributed=attributed)
            self._transact(pending, nothing_more if count < len(batch) or self.troubled else meanwhile)

    def _nothing_to_commit(self, batch: Batch) -> None:
        if len(batch):
            # All of it is committed, and not by us: its partitions have another owner, of which only a poll tells.
            batch.drop_below(self._progress.committed)
            self._unknown_member = True
        else:
            # What could not be committed is gone with its partitions, and the trouble with it: read on.
            self._back_off.succeeded()
            self._halving.reset()

    def _transact(self, pending: BatchTransaction, meanwhile: Callable[[], None]) -> None:
        group = self._owned.consumer.group()
        if not group.valid:
            # Without generation and member id the broker might check nothing.
            self._unknown_member = True
            return
        begun_s = self._clock_s()
        self._batches.begin()
        outcome = self._outcomes.publish(pending, group, meanwhile)
        self._effects.tally.transaction(outcome, self._clock_s() - begun_s)
        if self._outcomes.settle(pending, outcome):
            self._gap_since_s = None
        self._batches.end()

    def _gap_can_wait(self) -> bool:
        now = self._clock_s()
        if self._gap_since_s is None:
            self._gap_since_s = now
        return now - self._gap_since_s < self._rules.gap_commit_s
