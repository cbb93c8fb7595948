"""Calls that wait for a compiler hold no slot."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from typing import Any

from schemas.request import Request
from tests.workers.stage import PATIENCE_S, QUICK, ScriptedEngine, call, chat, collect, finish, running
from workers.errors import RequestRejected
from workers.retry_policy import RetryPolicy
from workers.structured.structure import rejected

DEAR = {"grammar": 'root ::= "dear"'}
SLOTS = 4


class SlowCompiler(ScriptedEngine):
    """Prepares what has a structure only when it is let."""

    def __init__(self, error: RequestRejected | None = None) -> None:
        super().__init__(lambda _call: error)
        self.let = threading.Event()

    def prepare(self, request: Request) -> Awaitable[None] | None:
        return self._compiled() if request.body.structured_outputs is not None else None

    async def _compiled(self) -> None:
        await asyncio.to_thread(self.let.wait, PATIENCE_S)


def dear(number: int) -> Any:
    return call(number, chat(f"dear {number}", structured_outputs=DEAR))


def test_plain_calls_are_answered_while_a_burst_waits_for_the_compiler() -> None:
    engine = SlowCompiler()
    with running(engine, RetryPolicy(slots_max=SLOTS)) as runner:
        runner.submit([dear(number) for number in range(3 * SLOTS)])
        ended = finish(runner, [call(100 + number) for number in range(2 * SLOTS)])
        assert len(ended) == 2 * SLOTS
        assert runner.running == 3 * SLOTS
        engine.let.set()
        assert len(collect(runner, 3 * SLOTS)) == 3 * SLOTS


def test_as_many_more_calls_may_be_handed_over_as_wait_up_to_a_bound() -> None:
    engine = SlowCompiler()
    with running(engine, RetryPolicy(slots_max=SLOTS, preparing_calls_max=2 * SLOTS)) as runner:
        runner.submit([dear(number) for number in range(SLOTS)])
        finish(runner, [call(100)])  # the loop has seen them all
        ahead = [runner.ahead]
        runner.submit([dear(number) for number in range(SLOTS, 5 * SLOTS)])
        finish(runner, [call(101)])
        ahead.append(runner.ahead)
        engine.let.set()
        collect(runner, 5 * SLOTS)
        assert ahead == [SLOTS, 2 * SLOTS]
        assert runner.running == 0


def test_a_call_that_waits_can_be_cancelled_and_is_not_heard_of_again() -> None:
    engine = SlowCompiler()
    with running(engine, QUICK) as runner:
        runner.submit([dear(0), dear(1)])
        runner.cancel([dear(0).id])
        finish(runner, [call(100)])
        assert runner.running == 1
        engine.let.set()
        assert set(collect(runner, 1)) == {dear(1).id}


def test_what_the_compiler_refuses_is_refused_by_the_engine_as_an_attempt_of_it() -> None:
    class Refusing(SlowCompiler):
        def prepare(self, request: Request) -> Awaitable[None] | None:
            raise rejected("no such grammar")

    with running(Refusing(rejected("no such grammar")), QUICK) as runner:
        ended = finish(runner, [dear(0)])[dear(0).id]
    assert ended.attempts == 1
    assert "no such grammar" in str(ended.outcome)
