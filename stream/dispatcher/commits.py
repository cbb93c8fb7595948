"""One transaction after the other: the batch's outputs with the offsets of their inputs, whatever becomes of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from stream.config.settings import Limits
from stream.dispatcher.assignment import Assignment
from stream.dispatcher.batch import Batch, Batches
from stream.dispatcher.dependencies import DispatcherDependencies
from stream.dispatcher.tally import Tally
from stream.errors import LogError, LogFenced
from stream.log import reasons
from stream.log.base import (
    Aborted,
    Fenced,
    LogProducer,
    OffsetCommit,
    Outcome,
    Output,
    Partition,
    Record,
    Success,
    Unknown,
)

log = logging.getLogger(__name__)

#: The point of a transaction where all its outputs are handed over, and waiting begins.
HANDED_OVER: Final = "produced"
#: Tries of one reply topic that may time out in a row. Nothing can overtake it: the offsets go on in order.
TIMEOUTS_MAX: Final = 3


class Refused(NamedTuple):
    """What becomes of outputs that their topics refuse."""

    #: Makes another output of a record whose own was refused alone: (record, output, reason).
    substitute: Callable[[Record, Output, str], Output]
    #: No answer goes to this reply topic for a while.
    set_aside: Callable[[str], None]


class Commits:
    """Owns the producer. What was aborted stays and goes again; what may have been committed is looked up."""

    def __init__(
        self,
        producer: LogProducer,
        owned: Assignment,
        batches: Batches,
        limits: Limits,
        parts: DispatcherDependencies,
        tally: Tally,
        refused: Refused,
    ) -> None:
        self._producer = producer
        self._owned = owned
        self._batches = batches
        self._limits = limits
        self._rules = parts.rules
        self._clock_s = parts.clock_s
        self._reach = parts.reach
        self._tally = tally
        self._refused = refused
        self._timeouts = 0
        self._records_max = limits.txn_records_max
        self._aborts = 0
        self._aborts_since_s = 0.0
        self._gap_since_s: float | None = None
        #: The group does not know us, or not as the owner: only a poll can tell what has become of our partitions.
        self._unknown_member = False

    @property
    def troubled(self) -> bool:
        """The last transaction failed, or could not begin: read nothing more before its batch is through."""
        return self._aborts > 0 or self._unknown_member or self._records_max < self._limits.txn_records_max

    @property
    def back_off_s(self) -> float:
        """How long to serve callbacks only, before the next try."""
        if not self._aborts:
            return self._rules.back_off_s if self._unknown_member else 0.0
        return min(self._rules.back_off_s * 2.0 ** min(self._aborts - 1, 10), self._rules.back_off_max_s)

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
        count = batch.prefix(self._records_max, self._limits.txn_bytes_max)
        offsets = self._offsets(batch.ends_of(count))
        if not offsets and not len(batch):
            # What could not be committed is gone with its partitions, and the trouble with it: read on.
            self._aborts = 0
            self._records_max = self._limits.txn_records_max
        if not offsets and len(batch):
            self._leave_to_another(batch)
        if not offsets or (not count and not last and self._gap_can_wait()):
            return
        group = self._owned.consumer.group()
        if not group.valid:
            # Without generation and member id the broker might check nothing.
            self._unknown_member = True
            return
        whole = count == len(batch)
        alone = self.troubled or count == 1
        outputs = batch.outputs if whole else batch.outputs[:count]
        reach = self._reaching(meanwhile) if whole and not self.troubled else self._reach
        begun_s = self._clock_s()
        self._batches.begin()
        outcome = self._producer.publish(outputs, offsets, group, attribute=alone, reach=reach)
        self._tally.transaction(outcome, self._clock_s() - begun_s)
        self._after(outcome, batch, count, offsets)
        self._batches.end()

    def _leave_to_another(self, batch: Batch) -> None:
        """All of it is committed, and not by us: its partitions have another owner, of which only a poll tells."""
        batch.drop_below({place: at.committed for place, at in self._owned.positions.items()})
        self._unknown_member = True

    def _reaching(self, meanwhile: Callable[[], None]) -> Callable[[str], None]:
        def reach(point: str) -> None:
            self._reach(point)
            if point == HANDED_OVER:
                meanwhile()

        return reach

    def _offsets(self, ends: Mapping[Partition, int]) -> list[OffsetCommit]:
        positions = self._owned.positions
        return [
            positions[partition].commit_at(end)
            for partition, end in ends.items()
            if partition in positions and end > positions[partition].committed
        ]

    def _gap_can_wait(self) -> bool:
        now = self._clock_s()
        if self._gap_since_s is None:
            self._gap_since_s = now
        return now - self._gap_since_s < self._rules.gap_commit_s

    def _after(self, outcome: Outcome, batch: Batch, count: int, offsets: Sequence[OffsetCommit]) -> None:
        match outcome:
            case Success():
                self._committed(batch, count, {Partition(o.topic, o.partition): o.offset for o in offsets})
            case Aborted():
                self._aborted(outcome, batch, count)
            case Unknown():
                log.warning("nobody knows whether the transaction was committed (%s): asking", outcome.cause)
                self._reconcile(batch, count, offsets)
            case Fenced():
                raise LogFenced(f"another process has taken this slot: {outcome.cause}")

    def _committed(self, batch: Batch, count: int, ends: Mapping[Partition, int]) -> None:
        self._advance(ends)
        whole = count == len(batch)
        records, outputs = (
            (batch.records, batch.outputs) if whole else (batch.records[:count], batch.outputs[:count])
        )
        self._tally.committed(records, outputs)
        batch.done(count)
        self._aborts = self._timeouts = 0
        self._gap_since_s = None
        self._records_max = min(self._limits.txn_records_max, self._records_max * 2)

    def _advance(self, ends: Mapping[Partition, int]) -> None:
        for partition, offset in ends.items():
            position = self._owned.positions.get(partition)
            if position is not None:
                position.committed = max(position.committed, offset)

    def _aborted(self, outcome: Aborted, batch: Batch, count: int) -> None:
        if not outcome.delivery or (count == 1 and 0 not in outcome.failed):
            # Also a refusal that was gone when each topic was tried: nobody knows what to put in its place.
            log.warning("transaction aborted (%s), the same records go again", outcome.cause)
            if not self._gave_up(batch, count, outcome.cause):
                self._count_abort(outcome.cause)
        elif count > 1:
            # A refused record takes its neighbours along: halve until it stands alone, with its reason.
            self._records_max = count // 2
        else:
            batch.outputs[0] = self._refused.substitute(batch.records[0], batch.outputs[0], outcome.failed[0])

    def _gave_up(self, batch: Batch, count: int, cause: str) -> bool:
        """A lone reply topic has timed out for the last time: its outputs become dead letters.

        Where it was the broker's fault, those cannot be published either before it is well again.
        """
        topic = batch.outputs[0].topic if count == 1 else None
        if topic not in batch.foreign or not reasons.may_blame_topic(cause):
            return False
        self._timeouts += 1
        if self._timeouts < TIMEOUTS_MAX:
            return False
        log.error("nothing can be delivered to the reply topic %s (%s): it is set aside", topic, cause)
        self._refused.set_aside(topic)
        for place, output in enumerate(batch.outputs):
            if output.topic == topic:
                batch.outputs[place] = self._refused.substitute(batch.records[place], output, cause)
        batch.foreign.discard(topic)
        self._timeouts = 0
        return True

    def _count_abort(self, cause: str) -> None:
        now = self._clock_s()
        self._aborts += 1
        if self._aborts == 1:
            self._aborts_since_s = now
        elif now - self._aborts_since_s > self._rules.aborts_max_s:
            raise LogError(f"nothing could be committed for {now - self._aborts_since_s:.0f} s: {cause}")

    def _reconcile(self, batch: Batch, count: int, offsets: Sequence[OffsetCommit]) -> None:
        """A new client under the same id ends the old transaction; then the committed offsets are the oracle."""
        self._producer.start(self._rules.init_s)
        found = self._owned.committed([Partition(o.topic, o.partition) for o in offsets])
        ends = {partition: at.offset for partition, at in found.items() if at is not None}
        if all(ends.get(Partition(o.topic, o.partition), -1) >= o.offset for o in offsets):
            self._committed(batch, count, ends)
            return
        # Partly: the partition has another owner by now, who went on; ours was not committed.
        batch.drop_below(ends)
        self._advance(ends)
        self._count_abort("outcome_unknown")
