"""Pure decisions: back-off, verdicts, deaths, stalls."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from schemas.failure import ErrorClass, Stage
from schemas.source import Source
from workers.deaths import DEATHS_MAX, Deaths
from workers.endpoint import Endpoint
from workers.errors import EngineFull, InvalidOutput, RequestRejected, TransientEngineError
from workers.retry_policy import RetryPolicy, backoff_s
from workers.stall import StallWatch
from workers.verdict import verdict

RULES = RetryPolicy()


def source(offset: int) -> Source:
    return Source("requests", 0, offset)


@given(st.integers(1, 10_000), st.randoms(use_true_random=False))
def test_back_off_doubles_is_jittered_and_bounded(failures: int, rng: random.Random) -> None:
    pause_s = backoff_s(RULES, failures, rng)
    longest_s = min(RULES.backoff_s_max, RULES.backoff_s * 2 ** (min(failures, 40) - 1))
    assert longest_s / 2 <= pause_s <= longest_s


def test_an_endpoints_limits_become_its_rules() -> None:
    rules = RetryPolicy.of(Endpoint("sim", attempts_max=7, poison_deaths_max=9))
    assert (rules.attempts_max, rules.poison_deaths_max) == (7, 9)


def test_each_error_has_its_verdict() -> None:
    refused = RequestRejected(ErrorClass.TOO_LONG, Stage.ENGINE, "too long")
    assert verdict(refused, failures=1, invalid_outputs=0, rules=RULES) == (refused.failure, False)
    for error in (TransientEngineError("no"), EngineFull("no")):
        assert [verdict(error, failures=n, invalid_outputs=0, rules=RULES).again for n in (1, 2, 3)] == [
            True,
            True,
            False,
        ]
        assert (
            verdict(error, failures=3, invalid_outputs=0, rules=RULES).failure.error_class
            is ErrorClass.ENGINE
        )
    broken = InvalidOutput("no")
    assert [verdict(broken, failures=0, invalid_outputs=n, rules=RULES).again for n in (1, 2)] == [
        True,
        False,
    ]
    assert (
        verdict(broken, failures=0, invalid_outputs=2, rules=RULES).failure.error_class
        is ErrorClass.INVALID_OUTPUT
    )


def test_deaths_make_a_suspect_and_then_poison_and_a_success_clears_them() -> None:
    deaths = Deaths(3)
    assert not deaths
    deaths.died([source(1), source(2)])
    assert not deaths.must_run_alone(source(1))
    deaths.died([source(1)])
    assert deaths.must_run_alone(source(1))
    assert not deaths.is_poison(source(1))
    deaths.died([source(1)])
    assert deaths.is_poison(source(1))
    deaths.cleared(source(1))
    assert not deaths.must_run_alone(source(1))
    assert deaths.count(source(2)) == 1


def test_deaths_are_forgotten_oldest_first_above_their_bound() -> None:
    deaths = Deaths(3)
    deaths.died(source(offset) for offset in range(DEATHS_MAX + 10))
    assert deaths.count(source(9)) == 0
    assert deaths.count(source(10)) == 1


def test_an_engine_hangs_when_neither_steps_nor_ends_move_for_stall_s() -> None:
    watch = StallWatch(RetryPolicy(stall_s=30), 0.0)
    assert not watch.hangs(steps=5, ended=0, running=1, now_s=1.0)
    assert not watch.hangs(steps=5, ended=0, running=1, now_s=31.0)
    assert watch.hangs(steps=5, ended=0, running=1, now_s=31.1)


def test_a_step_or_an_end_or_idleness_is_life() -> None:
    watch = StallWatch(RetryPolicy(stall_s=30), 0.0)
    watch.hangs(steps=5, ended=0, running=1, now_s=1.0)
    assert not watch.hangs(steps=6, ended=0, running=1, now_s=100.0)
    assert not watch.hangs(steps=6, ended=1, running=1, now_s=200.0)
    assert not watch.hangs(steps=6, ended=1, running=0, now_s=300.0)
    assert not watch.hangs(steps=6, ended=1, running=1, now_s=329.0)


def test_a_slow_engine_gets_ten_of_its_own_steps() -> None:
    watch = StallWatch(RetryPolicy(stall_s=30), 0.0)
    for second in range(0, 200, 20):
        watch.hangs(steps=second // 20, ended=0, running=1, now_s=float(second))
    assert watch.patience_s == 200.0
    assert not watch.hangs(steps=9, ended=0, running=1, now_s=180.0 + 199)
    assert watch.hangs(steps=9, ended=0, running=1, now_s=180.0 + 201)
