"""What a dispatcher's metrics say after a known set of records."""

from __future__ import annotations

import pytest

from stream.dispatcher.limits import DispatcherLimits
from stream.log.memory.log import Fault
from stream.metrics.prometheus import PrometheusMetrics
from tests.stream.dispatcher.stage import INPUT, Stage, line
from tests.stream.dispatcher.test_set_aside import commit_by_hand
from tests.stream.metrics.served import values

GOOD = line()
RULES = DispatcherLimits(poll_s=0, gap_commit_s=0, back_off_s=0, lag_every_s=0)


def stage_and_metrics() -> tuple[Stage, PrometheusMetrics]:
    metrics = PrometheusMetrics()
    return Stage(metrics=metrics, rules=RULES), metrics


def send_one_of_each(stage: Stage) -> int:
    """4 good ones in two lanes, 4 that become dead letters, 1 whose error is its result."""
    stage.send(GOOD, GOOD, GOOD)
    stage.send(GOOD, headers=[("headrace-lane", b"interactive")])
    stage.send(b"{nonsense", b"{nonsense", line(url="/v1/nowhere"), line(body_model="nobody"))
    stage.send(line(body_model="nobody"), headers=[("headrace-errors", b"result")])
    return 9


@pytest.mark.parametrize("fault", [None, *Fault])
def test_records_and_dead_letters_are_counted_once_whatever_became_of_their_transaction(
    fault: Fault | None,
) -> None:
    stage, metrics = stage_and_metrics()
    send_one_of_each(stage)
    if fault is not None:
        stage.inject(fault)
    stage.dispatch(20)
    assert values(metrics, "headrace_records_total") == {
        ("sim", "batch", "routed"): 3,
        ("sim", "interactive", "routed"): 1,
        ("", "", "dead_letter"): 4,
        ("", "", "result"): 1,
    }
    assert values(metrics, "headrace_dead_letters_total") == {
        ("unreadable", "decode"): 2,
        ("invalid", "validate"): 1,
        ("unknown_endpoint", "route"): 1,
    }


@pytest.mark.parametrize(
    ("fault", "failed"),
    [
        (None, {}),
        (Fault.ABORTED, {("injected", "aborted", "dispatcher"): 1}),
        (Fault.COMMITTED_UNKNOWN, {("timed_out", "unknown", "dispatcher"): 1}),
        (Fault.OPEN_UNKNOWN, {("timed_out", "unknown", "dispatcher"): 1}),
    ],
)
def test_transactions_are_counted_and_timed_by_their_outcome(
    fault: Fault | None, failed: dict[tuple[str, ...], int]
) -> None:
    stage, metrics = stage_and_metrics()
    stage.send(GOOD, GOOD)
    if fault is not None:
        stage.inject(fault)
    stage.dispatch()
    expected = dict(failed)
    if fault is not Fault.COMMITTED_UNKNOWN:
        expected["", "committed", "dispatcher"] = 1
    assert values(metrics, "headrace_transactions_total") == expected
    assert values(metrics, "headrace_transaction_seconds_count") == {("dispatcher",): len(expected)}


def test_the_oldest_record_of_a_transaction_stands_for_the_time_until_it_is_dispatched() -> None:
    stage, metrics = stage_and_metrics()
    stage.send(*[GOOD] * 20)
    stage.dispatch()
    stage.send(*[GOOD] * 20, headers=[("headrace-lane", b"interactive")])
    stage.dispatch()
    observed = {("interactive", "queued"): 1, ("batch", "queued"): 1}
    assert values(metrics, "headrace_stage_seconds_count") == observed
    assert values(metrics, "headrace_stage_seconds_sum") == dict.fromkeys(observed, 0.05)


def test_lag_is_what_is_not_committed_and_a_partition_set_aside_is_told() -> None:
    stage, metrics = stage_and_metrics()
    stage.send(*[GOOD] * 5)
    commit_by_hand(stage, 1, "v1:nonsense")
    stage.send(*[GOOD] * 3, partition=1)
    made = stage.dispatcher()
    for _ in range(8):
        made.turn()
    assert values(metrics, "headrace_lag_records") == {("0", INPUT): 4}
    assert values(metrics, "headrace_quarantined") == {("map", "partition"): 1}
    made.close()


def test_lag_counts_records_that_cannot_be_committed_yet() -> None:
    stage, metrics = stage_and_metrics()
    stage.send(*[GOOD] * 5)
    stage.inject(*[Fault.ABORTED] * 40)
    made = stage.dispatcher()
    for _ in range(8):
        made.turn()
    assert values(metrics, "headrace_lag_records") == {("0", INPUT): 5}
    assert values(metrics, "headrace_records_total") == {}
    made.close()
