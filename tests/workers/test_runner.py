"""The runner between its two threads."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from schemas.failure import ErrorClass, Failure, Stage
from tests.workers.stage import (
    PATIENCE_S,
    QUICK,
    HeldEngine,
    ScriptedEngine,
    call,
    chat,
    collect,
    finish,
    running,
    simulated,
)
from workers.clock import SystemClock
from workers.engines.base import Answer, EngineCall
from workers.engines.simulated import expected_answer
from workers.errors import InvalidOutput, RequestRejected, TransientEngineError
from workers.journal import Journal, read_totals
from workers.probe import PROBE_ID
from workers.retry_policy import RetryPolicy


def test_every_call_ends_once_with_the_answer_to_its_own_request() -> None:
    calls = [call(number) for number in range(3_000)]
    with running(simulated()) as runner:
        ended = finish(runner, calls)
        assert runner.running == 0
    for one in calls:
        outcome = ended[one.id].outcome
        assert isinstance(outcome, Answer)
        assert outcome.body == expected_answer(one.request)
        assert ended[one.id].attempts == 1


def test_slow_and_quick_answers_end_out_of_order() -> None:
    calls = [call(number) for number in range(3)]
    engine = HeldEngine(calls[0].id)
    with running(engine) as runner:
        runner.submit(calls)
        assert set(collect(runner, 2)) == {calls[1].id, calls[2].id}
        assert runner.running == 1
        engine.let.set()
        assert set(collect(runner, 1)) == {calls[0].id}


def test_take_never_blocks_and_wait_wakes_when_something_ended() -> None:
    with running(simulated()) as runner:
        assert runner.take() == []
        assert not runner.wait(0.0)
        runner.submit([call(0, chat(simulate="sleep:0.05"))])
        assert runner.wait(PATIENCE_S)
        assert len(runner.take()) == 1


def test_a_passing_failure_is_tried_again_up_to_attempts_max() -> None:
    calls = [call(0, chat(simulate="transient:2")), call(1, chat(simulate="transient:3"))]
    with running(simulated()) as runner:
        ended = finish(runner, calls)
        assert isinstance(ended[calls[0].id].outcome, Answer)
        assert ended[calls[0].id].attempts == 3
        failure = ended[calls[1].id].outcome
        assert isinstance(failure, Failure)
        assert failure.error_class is ErrorClass.ENGINE
        assert ended[calls[1].id].attempts == 3
        assert runner.outcomes == {"answered": 1, "retried": 4, "failed": 1}


def test_an_answer_that_breaks_its_structure_has_one_retry_and_all_its_tokens_are_counted() -> None:
    calls = [call(0, chat(simulate="invalid_output:1")), call(1, chat(simulate="invalid_output:2"))]
    with running(simulated()) as runner:
        ended = finish(runner, calls)
    good, bad = ended[calls[0].id], ended[calls[1].id]
    assert isinstance(good.outcome, Answer)
    assert good.tokens == good.outcome.tokens.plus(good.outcome.tokens)
    assert isinstance(bad.outcome, Failure)
    assert bad.outcome.error_class is ErrorClass.INVALID_OUTPUT
    assert bad.attempts == 2
    assert bad.tokens == good.tokens


def test_an_end_says_which_fields_had_no_effect_at_the_first_try_and_at_a_later_one() -> None:
    said = {"ignored": ("$.body.user",), "ignored_count": 3}
    calls = [
        call(number, msgspec.structs.replace(chat("a", simulate), **said))
        for number, simulate in enumerate([None, "transient:1"])
    ]
    with running(simulated()) as runner:
        ended = finish(runner, calls)
    assert [(end.ignored, end.ignored_count) for end in ended.values()] == [(("$.body.user",), 3)] * 2


def test_a_refused_request_is_not_tried_again() -> None:
    one = call(0, chat(simulate="reject"))
    with running(simulated()) as runner:
        ended = finish(runner, [one])[one.id]
    assert isinstance(ended.outcome, Failure)
    assert (ended.outcome.error_class, ended.outcome.stage) == (ErrorClass.INVALID, Stage.VALIDATE)
    assert ended.attempts == 1


def test_a_call_past_its_deadline_never_runs() -> None:
    one = call(0, deadline_ms=1)
    engine = ScriptedEngine(lambda _call: None)
    with running(engine) as runner:
        ended = finish(runner, [one])[one.id]
    assert isinstance(ended.outcome, Failure)
    assert ended.outcome.error_class is ErrorClass.EXPIRED
    assert ended.attempts == 0
    assert engine.company == []


def test_a_deadline_that_leaves_no_time_for_a_retry_ends_the_call_with_its_own_failure() -> None:
    one = call(0, chat(simulate="transient:1"), deadline_ms=SystemClock().now_ms() + 60_000)
    rules = type(QUICK)(backoff_s=600.0, backoff_s_max=600.0)
    with running(simulated(), rules) as runner:
        ended = finish(runner, [one])[one.id]
    assert isinstance(ended.outcome, Failure)
    assert ended.outcome.error_class is ErrorClass.ENGINE
    assert ended.attempts == 1


def test_a_cancelled_call_comes_back_no_more_and_frees_its_slot() -> None:
    calls = [call(0, chat(simulate="sleep:60")), call(1, chat(simulate="transient:1,sleep:60")), call(2)]
    with running(simulated()) as runner:
        runner.submit(calls)
        runner.cancel([calls[0].id, calls[1].id, "never heard of"])
        assert set(collect(runner, 1)) == {calls[2].id}
        _until(lambda: runner.running == 0)
        assert runner.outcomes["cancelled"] == 2
        # The partition came back: the same record may run again under its old name.
        again = call(0)
        assert isinstance(finish(runner, [again])[again.id].outcome, Answer)


def test_times_are_in_order_and_the_first_token_lies_between() -> None:
    one = call(0)
    before = SystemClock().now_ms()
    with running(ScriptedEngine(lambda _call: None)) as runner:
        ended = finish(runner, [one])[one.id]
    assert ended.first_token_ms is not None
    assert before <= ended.started_ms <= ended.first_token_ms <= ended.done_ms <= SystemClock().now_ms()


class Panic(BaseException):
    """As a library written in Rust raises it: no Exception."""


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("kind", [ZeroDivisionError, Panic])
def test_a_programmers_error_in_the_engine_reaches_the_other_thread(
    at_once: bool, kind: type[BaseException]
) -> None:
    class Wrong(ScriptedEngine):
        def submit(self, call: EngineCall) -> Any:
            if at_once and call.id != PROBE_ID:
                raise kind("a bug")
            return super().submit(call)

    with running(Wrong(lambda _call: kind("a bug"))) as runner:
        runner.submit([call(0)])
        assert runner.wait(PATIENCE_S)
        with pytest.raises(kind, match="a bug"):
            runner.check()


def test_the_journal_knows_what_an_earlier_process_had_started(tmp_path: Path) -> None:
    path = tmp_path / "journal" / "worker-sim-00.starts"
    for _life in range(2):
        journal = Journal(path)
        with running(simulated(), journal=journal) as runner:
            finish(runner, [call(number) for number in range(10)])
            repeats = runner.repeats
        journal.close()
    assert repeats == 10
    assert read_totals(path) == (20, 10)


@pytest.mark.parametrize(
    "error",
    [
        RequestRejected(ErrorClass.INVALID, Stage.VALIDATE, "no"),
        InvalidOutput("no"),
        TransientEngineError("no"),
    ],
)
def test_many_calls_that_fail_at_once_need_no_deep_stack(error: Exception) -> None:
    class Refusing(ScriptedEngine):
        def submit(self, call: EngineCall) -> Any:
            if call.id == PROBE_ID:
                return super().submit(call)
            raise error

    calls = [call(number) for number in range(3_000)]
    with running(Refusing(lambda _call: None)) as runner:
        ended = finish(runner, calls)
    assert all(isinstance(one.outcome, Failure) for one in ended.values())


def _until(holds: object) -> None:
    limit_s = time.monotonic() + PATIENCE_S
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < limit_s
        time.sleep(0.005)


class TestAhead:
    """More than the slots are handed over only to an engine that answers on the spot."""

    RULES = RetryPolicy(slots_max=4, ahead_calls_max=64, backoff_s=0.001, backoff_s_max=0.002)

    def test_the_engine_never_has_more_inside_than_there_are_slots(self) -> None:
        engine = ScriptedEngine(lambda _: None)
        calls = [call(number) for number in range(40)]
        with running(engine, self.RULES) as runner:
            finish(runner, calls)
        assert [name for name, _ in engine.company] == [one.id for one in calls], "in the order given"
        assert max(len(beside) for _, beside in engine.company) == 4

    def test_nothing_goes_ahead_before_the_engine_has_shown_that_it_answers_on_the_spot(self) -> None:
        with running(simulated(), self.RULES) as runner:
            assert runner.ahead == 0
            finish(runner, [call(0)])
            assert runner.ahead == 64

    def test_one_slow_call_ends_it(self) -> None:
        with running(simulated(), self.RULES) as runner:
            finish(runner, [call(0)])
            slow = [call(number, chat(simulate="sleep:0.02")) for number in range(1, 20)]
            ended = finish(runner, slow)
            assert runner.ahead == 0
            assert set(ended) == {one.id for one in slow}

    def test_what_waits_for_a_slot_has_not_started_in_the_journal(self, tmp_path: Path) -> None:
        path = tmp_path / "journal"
        with running(simulated(), self.RULES, Journal(path)) as runner:
            runner.submit([call(number, chat(simulate="sleep:600")) for number in range(10)])
            _until(lambda: read_totals(path).starts >= 4)
            time.sleep(0.02)
            assert read_totals(path).starts == 4

    def test_what_waits_for_a_slot_can_be_cancelled(self) -> None:
        with running(simulated(), self.RULES) as runner:
            calls = [call(number, chat(simulate="sleep:600")) for number in range(10)]
            runner.submit(calls)
            runner.cancel([one.id for one in calls[:9]])
            _until(lambda: runner.running == 1)
