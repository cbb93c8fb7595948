"""A worker's transaction until its outcome is known: what each outcome does to ledgers, ready answers and reply topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from schemas.failure import ErrorClass
from stream.errors import LedgerBroken, LogError
from stream.exactly_once.abort_policy import Action, Contents
from stream.exactly_once.bisection import Bisection
from stream.exactly_once.offset_map import OffsetMap
from stream.exactly_once.ready_answers import ReadyAnswers
from stream.exactly_once.reply_topic_failures import ReplyTopicFailures
from stream.exactly_once.transaction import Transaction
from stream.exactly_once.work_item import WorkItem
from stream.log import reasons
from stream.log.base import Aborted, OffsetCommit, Outcome, Output, Partition


class Tally(Protocol):
    """Hears of transactions, for the metrics."""

    def ended(self, outcome: Outcome, plan: Transaction, seconds: float) -> None: ...
    def found_committed(self, records: Sequence[WorkItem]) -> None: ...


@dataclass(frozen=True, slots=True)
class Effects:
    """What outcomes change beside the ledgers."""

    ready: ReadyAnswers
    replies: ReplyTopicFailures
    bisection: Bisection
    tally: Tally


class PendingAnswers:
    """Answers stay ready in every case but success."""

    def __init__(self, plan: Transaction, effects: Effects) -> None:
        self._plan = plan
        self._effects = effects
        self.outputs: Sequence[Output] = plan.outputs
        self.offsets: Sequence[OffsetCommit] = plan.offsets
        self.contents = Contents(len(plan.records), plan.foreign, effects.bisection.searching(plan.kind))

    def committed(self) -> None:
        plan, effects = self._plan, self._effects
        for ledger, stage in plan.stages:
            ledger.commit(stage)
        effects.ready.remove(plan.records)
        effects.replies.targets.proved(plan.foreign)
        if plan.records:
            effects.bisection.succeeded(plan.kind, plan.records)

    def reconciled(self, found: Mapping[Partition, OffsetMap | None]) -> bool:
        plan, effects = self._plan, self._effects
        done = [r for ledger, stage in plan.stages for r in ledger.reconcile(stage, found[ledger.partition])]
        effects.ready.remove(done)
        effects.tally.found_committed(done)
        left = set(plan.records).difference(done)
        if left:
            effects.replies.targets.suspect(plan.foreign)
        return not left

    def aborted(self, outcome: Aborted, action: Action) -> None:
        for ledger, stage in self._plan.stages:
            ledger.abort(stage)
        plan, replies = self._plan, self._effects.replies
        match action:
            case Action.STOP:
                _stop(outcome)
            case Action.NARROW:
                self._effects.bisection.failed(plan.kind, plan.records)
            case Action.GIVE_UP_ANSWER:
                replies.give_up(plan.records[0], ErrorClass.TOO_LARGE, "the answer does not fit its topic")
                self._effects.bisection.gave_up(plan.kind, plan.records[0])
            case Action.SEPARATE:
                replies.targets.suspect(plan.foreign)
            case Action.QUARANTINE:
                replies.quarantine(next(iter(plan.foreign)), outcome.cause)
            case Action.BACK_OFF:
                if plan.foreign and reasons.may_blame_topic(outcome.cause):
                    replies.doubt(plan.foreign, outcome.cause)


def _stop(outcome: Aborted) -> None:
    why = ", ".join(sorted({outcome.cause, *outcome.failed.values()}))
    if outcome.delivery:
        raise LogError(f"one of the service's own topics refuses its records ({why}); see `headrace topics`")
    raise LedgerBroken(f"the broker refused an offset map: {why}")
