"""Which EndTxn a fault takes."""

from __future__ import annotations

from tests.chaos.proxy.faults import Action, EndTxnFault, FaultPlan
from tests.chaos.proxy.wire import EndTxn

COMMIT, ABORT, OTHERS = (EndTxn("t", 1, 0, True), EndTxn("t", 1, 0, False), EndTxn("u", 2, 0, True))


def test_a_fault_takes_the_nth_commit_of_its_own_id_once() -> None:
    plan = FaultPlan()
    fault = EndTxnFault("t", Action.DROP_RESPONSE, nth=2)
    plan.inject(fault)
    ends = (COMMIT, ABORT, OTHERS, COMMIT, COMMIT)
    assert [plan.take(end, with_outputs=True) for end in ends] == [None, None, None, fault, None]


def test_a_kill_before_the_commit_waits_for_one_that_has_outputs() -> None:
    plan = FaultPlan()
    fault = EndTxnFault("t", Action.KILL_BEFORE)
    plan.inject(fault)
    assert [plan.take(COMMIT, with_outputs=wrote) for wrote in (False, True)] == [None, fault]


def test_another_fault_takes_a_commit_of_progress_alone() -> None:
    plan = FaultPlan()
    fault = EndTxnFault("t", Action.KILL_AFTER)
    plan.inject(fault)
    assert plan.take(COMMIT, with_outputs=False) == fault
