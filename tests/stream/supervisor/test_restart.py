"""When a dead process is started again."""

from __future__ import annotations

import signal

import pytest

from stream.supervisor.restart import Life, RestartPolicy

POLICY = RestartPolicy(backoff_s=1, backoff_max_s=30, steady_s=60, start_attempts_max=3, start_timeout_s=600)
KILLED = -signal.SIGKILL


def running(at_s: float = 0) -> Life:
    return Life().started(at_s).said("running", at_s)


def test_a_new_process_is_due_at_once() -> None:
    assert Life().is_due(0)


def test_the_first_restart_is_at_once() -> None:
    life = running().died(KILLED, None, 10, POLICY)
    assert life.state == "restarting"
    assert life.is_due(10)
    assert life.reason == "ended by SIGKILL"


def test_further_restarts_wait_longer_and_longer_up_to_the_bound() -> None:
    life, waits = running(), []
    for _ in range(9):
        life = life.died(KILLED, None, 100, POLICY)
        waits.append(life.start_at_s - 100)
        life = life.started(100).said("running", 100)
    assert waits == [0, 1, 2, 4, 8, 16, 30, 30, 30]


def test_the_bound_holds_after_any_number_of_deaths() -> None:
    assert POLICY.delay_s(10**6) == 30


def test_a_process_that_ran_long_dies_for_the_first_time_again() -> None:
    life = (
        running(0).died(KILLED, None, 1, POLICY).started(1).said("running", 1).died(KILLED, None, 61, POLICY)
    )
    assert life.deaths_in_a_row == 1
    assert life.is_due(61)


@pytest.mark.parametrize(("code", "words"), [(4, "another process owns its slot"), (2, "configuration")])
def test_a_fenced_or_misconfigured_process_has_failed(code: int, words: str) -> None:
    life = running().died(code, "it said so", 5, POLICY)
    assert life.state == "failed"
    assert life.reason is not None
    assert words in life.reason
    assert life.reason.endswith("it said so")
    assert not life.is_due(10**9)


def test_a_process_that_never_ran_is_given_up_after_its_attempts() -> None:
    life = Life()
    for _ in range(3):
        assert life.state == "restarting"
        life = life.started(0).died(1, "no such model", 0, POLICY)
    assert life.state == "failed"
    assert life.reason == "exit code 1: no such model"


def test_signals_during_a_start_are_not_the_processs_own_failure() -> None:
    life = Life()
    for _ in range(20):
        life = life.started(0).died(KILLED, None, 0, POLICY)
    assert life.state == "restarting"


def test_a_process_that_once_ran_is_never_given_up() -> None:
    life = running()
    for _ in range(20):
        life = life.died(1, None, 0, POLICY).started(0)
    assert life.state == "starting"


def test_running_clears_the_reason() -> None:
    assert running().died(1, "x", 0, POLICY).started(0).said("running", 1).reason is None


def test_only_a_start_can_be_overdue() -> None:
    assert Life().started(0).is_overdue(601, POLICY)
    assert not Life().started(0).is_overdue(600, POLICY)
    assert not running().is_overdue(10**6, POLICY)
    assert not running().said("starting", 1).is_overdue(10**6, POLICY)


def test_an_unknown_signal_has_a_number() -> None:
    assert running().died(-60, None, 0, POLICY).reason == "ended by signal 60"


def test_what_ran_once_is_started_again_whatever_it_says_at_its_end() -> None:
    assert running().died(1, "no model", 10, POLICY, lasting=True).state == "restarting"
    assert Life().started(0).died(1, "no model", 10, POLICY, lasting=True).state == "failed"
