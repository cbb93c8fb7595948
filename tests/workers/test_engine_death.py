"""What the runner does when its engine dies, hangs, or is killed by a record again and again."""

from __future__ import annotations

import asyncio
import threading

import pytest

from schemas.failure import ErrorClass, Failure
from tests.workers.stage import (
    PATIENCE_S,
    QUICK,
    ScriptedEngine,
    call,
    chat,
    collect,
    finish,
    running,
    simulated,
)
from workers.engines.base import Answer, EngineCall
from workers.errors import EngineDead, EngineStartError

POISON_NUMBER = 3
POISON = call(POISON_NUMBER).id


def _kills(call: EngineCall) -> EngineDead | None:
    return EngineDead("it killed the engine") if call.id == POISON else None


def test_after_a_death_the_engine_is_started_again_and_every_call_is_answered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    calls = [call(number, chat(f"hello {number}", simulate="sleep:0.05")) for number in range(5)]
    # The first: no other's time can have begun, and be over, before its own.
    calls[0] = call(0, chat(simulate="sleep:0.01,engine_dead:1"))
    with running(simulated()) as runner:
        ended = finish(runner, calls)
        assert runner.restarts == 1
    assert all(isinstance(one.outcome, Answer) for one in ended.values())
    assert {one.attempts for one in ended.values()} == {2}
    assert [text for text in caplog.messages if "engine" in text] == [
        "the engine died: the simulated engine was told to die; starting it again, its calls wait",
        "the engine runs again (restart 1)",
    ]


def test_a_record_that_kills_its_engine_every_time_is_poison_and_its_neighbours_are_answered() -> None:
    engine = ScriptedEngine(_kills)
    with running(engine) as runner:
        ended = finish(runner, [call(number) for number in range(6)])
        assert runner.restarts == 3
        assert not runner.alone
    poison = ended.pop(POISON)
    assert isinstance(poison.outcome, Failure)
    assert poison.outcome.error_class is ErrorClass.POISON
    assert poison.attempts == 3
    assert len(ended) == 5
    assert all(isinstance(one.outcome, Answer) for one in ended.values())


def test_the_last_death_was_alone() -> None:
    engine = ScriptedEngine(_kills)
    with running(engine) as runner:
        finish(runner, [call(number) for number in range(6)])
    last = [company for name, company in engine.company if name == POISON][-1]
    assert last == {POISON}


def test_a_suspect_that_lives_alone_is_cleared_and_the_others_go_on_together() -> None:
    deaths = iter([EngineDead("1"), EngineDead("2")])
    engine = ScriptedEngine(lambda call: next(deaths, None) if call.id == POISON else None)
    with running(engine) as runner:
        first = finish(runner, [call(number) for number in range(6)])
        assert all(isinstance(one.outcome, Answer) for one in first.values())
        assert not runner.alone
        engine.company.clear()
        finish(runner, [call(number) for number in range(10, 20)])
    assert max(len(company) for _name, company in engine.company) > 1


def test_calls_that_come_while_a_suspect_runs_alone_wait_for_it() -> None:
    engine = ScriptedEngine(_kills)
    late = [call(number) for number in range(10, 14)]
    with running(engine) as runner:
        runner.submit([call(3)])
        runner.submit(late)
        ended = collect(runner, 5)
    assert isinstance(ended[POISON].outcome, Failure)
    alone = [company for name, company in engine.company if name == POISON][-1]
    assert alone == {POISON}


def test_with_one_death_allowed_every_record_runs_alone() -> None:
    engine = ScriptedEngine(_kills)
    rules = type(QUICK)(poison_deaths_max=1)
    with running(engine, rules) as runner:
        ended = finish(runner, [call(number) for number in range(6)])
    assert isinstance(ended[POISON].outcome, Failure)
    assert all(len(company) == 1 for _name, company in engine.company)


def test_an_engine_that_makes_no_step_while_calls_run_is_declared_dead() -> None:
    calls = [call(0, chat(simulate="hang")), call(1, chat(simulate="sleep:0.01"))]
    with running(simulated()) as runner:
        ended = finish(runner, calls)
        assert runner.restarts == 3
    hung, other = ended[calls[0].id].outcome, ended[calls[1].id].outcome
    assert isinstance(hung, Failure)
    assert hung.error_class is ErrorClass.POISON
    assert "hangs" in hung.message
    assert isinstance(other, Answer)


def test_a_long_call_is_not_a_hang_while_the_engine_makes_steps() -> None:
    one = call(0, chat(simulate=f"sleep:{QUICK.stall_s * 5}"))
    with running(simulated()) as runner:
        ended = finish(runner, [one])[one.id]
        assert runner.restarts == 0
    assert isinstance(ended.outcome, Answer)


def test_a_death_in_idleness_costs_no_call_anything() -> None:
    class Fragile(ScriptedEngine):
        dead = False

        async def start(self) -> None:
            await super().start()
            self.dead = False

        def steps(self) -> int:
            if self.dead:
                raise EngineDead("gone")
            return super().steps()

    engine = Fragile(lambda _call: None)
    with running(engine) as runner:
        engine.dead = True
        while runner.restarts == 0:
            assert not runner.wait(0.01)
        ended = finish(runner, [call(0)])[call(0).id]
    assert ended.attempts == 1


def test_an_engine_that_cannot_be_brought_back_ends_the_runner() -> None:
    class Once(ScriptedEngine):
        async def start(self) -> None:
            await super().start()
            if self.starts > 1:
                raise EngineStartError("no memory left")

    engine = Once(_kills)
    with running(engine) as runner:
        runner.submit([call(3)])
        assert runner.wait(PATIENCE_S)
        with pytest.raises(EngineStartError, match="no memory left"):
            runner.check()
    assert engine.starts == 1 + QUICK.engine_starts_max


def test_a_call_may_be_cancelled_while_the_engine_is_down() -> None:
    class Mending(ScriptedEngine):
        async def start(self) -> None:
            await super().start()
            if self.starts > 1:
                down.set()
                await asyncio.to_thread(mended.wait, PATIENCE_S)

    down, mended = threading.Event(), threading.Event()
    victim, other = call(POISON_NUMBER), call(1)
    with running(Mending(_kills)) as runner:
        runner.submit([victim])
        assert down.wait(PATIENCE_S)
        runner.cancel([victim.id])
        runner.submit([other])
        mended.set()
        assert set(collect(runner, 1)) == {other.id}
        assert runner.running == 0
