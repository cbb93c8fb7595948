"""When silence is a hang, and when it is a start."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from schemas.failure import Failure
from tests.workers.stage import QUICK, ScriptedEngine, call, finish, running
from workers.engines.base import Answer, EngineCall, Tokens
from workers.retry_policy import RetryPolicy
from workers.stall import StallWatch

KILLER = call(5).id


def test_a_restarted_engine_has_its_whole_patience_again_and_its_loading_was_no_step() -> None:
    watch = StallWatch(RetryPolicy(stall_s=30.0), 0.0)
    seen = {"steps": 0, "ended": 5, "running": 3}
    assert not watch.hangs(**seen, now_s=1.0)
    watch.begin_anew(100.0)
    assert not watch.hangs(**seen, now_s=100.0)
    assert not watch.hangs(**seen, now_s=129.0)
    assert watch.hangs(**seen, now_s=131.0)
    watch.begin_anew(200.0)
    assert not watch.hangs(steps=1, ended=5, running=3, now_s=200.1)
    assert watch.patience_s == 60.0


def test_each_verdict_doubles_the_patience_up_to_a_bound() -> None:
    """A step that takes longer than it never ends: its record would be convicted at the third verdict."""
    rules = RetryPolicy(stall_s=30.0, stall_doublings_max=4)
    watch, now_s, patience_s = StallWatch(rules, 0.0), 0.0, []
    for _ in range(7):
        patience_s.append(watch.patience_s)
        watch.begin_anew(now_s)
        assert not watch.hangs(steps=0, ended=0, running=1, now_s=now_s)
        now_s += watch.patience_s + 1
        assert watch.hangs(steps=0, ended=0, running=1, now_s=now_s)
    assert patience_s == [30, 60, 120, 240, 480, 480, 480]


def test_a_step_longer_than_the_first_patience_is_answered_in_the_end() -> None:
    class OneLongStep(ScriptedEngine):
        async def submit_later(self, call: EngineCall) -> Answer:
            await asyncio.sleep(1.5 * QUICK.stall_s)
            return Answer({"text": call.id}, Tokens(1, 2, 0), 0.001)

        def steps(self) -> int:
            return 0

    with running(OneLongStep(lambda _call: None), QUICK) as runner:
        [ended] = finish(runner, [call(1)]).values()
        assert runner.restarts > 0, "it was not taken to hang"
    assert isinstance(ended.outcome, Answer)


class SlowToLoad(ScriptedEngine):
    """Loads for longer than `stall_s`, counts its steps from zero in each life; one record hangs it before any step."""

    rules = replace(QUICK, stall_s=0.4)

    def __init__(self) -> None:
        super().__init__(lambda _call: None)
        self.hung = False

    async def start(self) -> None:
        if self.starts:
            await asyncio.sleep(1.5 * self.rules.stall_s)
        await super().start()
        self.step, self.hung = 0, False

    async def submit_later(self, call: EngineCall) -> Answer:
        self.hung = self.hung or call.id == KILLER
        await asyncio.sleep(self.rules.stall_s / 3)
        if self.hung:
            await asyncio.sleep(1_000)
        self.step += 1
        return Answer({"text": call.id}, Tokens(1, 2, 0), 0.001)

    def steps(self) -> int:
        return self.step


def test_an_engine_that_loads_for_longer_than_a_stall_convicts_no_innocent_record() -> None:
    with running(SlowToLoad(), SlowToLoad.rules) as runner:
        ended = finish(runner, [call(number) for number in range(6)])
    assert [name for name, one in ended.items() if isinstance(one.outcome, Failure)] == [KILLER]
