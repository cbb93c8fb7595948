"""The runner's start and stop: what comes too late, too early or not at all."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from functools import partial

import pytest

from tests.workers.stage import (
    PATIENCE_S,
    QUICK,
    ScriptedEngine,
    call,
    chat,
    running,
    simulated,
)
from workers.clock import SystemClock
from workers.errors import EngineStartError
from workers.journal import NoJournal
from workers.runner import Runner


def test_an_engine_that_does_not_start_is_an_error_at_start() -> None:
    class Broken(ScriptedEngine):
        async def start(self) -> None:
            raise EngineStartError("no such model")

    runner = Runner(Broken(lambda _call: None), QUICK, SystemClock(), random.Random(1), NoJournal())
    with pytest.raises(EngineStartError, match="no such model"):
        runner.start(PATIENCE_S)
    runner.stop(0.0)


def test_a_start_that_takes_too_long_or_is_given_up_is_an_error() -> None:
    class Slow(ScriptedEngine):
        async def start(self) -> None:
            begun.set()
            await asyncio.sleep(600)

    for timeout_s, give_up, words in ((0.05, False, "within"), (60.0, True, "asked to stop")):
        begun = threading.Event()
        runner = Runner(Slow(lambda _call: None), QUICK, SystemClock(), random.Random(1), NoJournal())
        with pytest.raises(EngineStartError, match=words):
            runner.start(timeout_s, give_up=partial(bool, give_up))
        assert begun.wait(PATIENCE_S)
        runner.stop(0.0)
        assert not _alive("engine-loop")


def test_a_stop_that_comes_before_the_loop_leaves_no_engine_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []

    class Noting(ScriptedEngine):
        async def start(self) -> None:
            started.append(self)

    runner = Runner(Noting(lambda _call: None), QUICK, SystemClock(), random.Random(1), NoJournal())
    begin, stopping = runner._live, threading.Event()
    join = runner._thread.join

    async def late() -> None:
        assert stopping.wait(PATIENCE_S)
        await begin()

    def joined(timeout: float | None = None) -> None:
        stopping.set()
        join(timeout)

    monkeypatch.setattr(runner, "_live", late)
    monkeypatch.setattr(runner._thread, "join", joined)
    with pytest.raises(EngineStartError, match="asked to stop"):
        runner.start(60.0, give_up=lambda: True)
    runner.stop(0.0)
    assert not _alive("engine-loop")
    assert started == []


def test_stop_lets_running_calls_end_within_the_grace_time_and_they_can_still_be_taken() -> None:
    with running(simulated()) as runner:
        runner.submit([call(0, chat(simulate="sleep:0.2"))])
        runner.stop(PATIENCE_S)
        assert [one.id for one in runner.take()] == [call(0).id]
    assert not _alive("engine-loop")


def test_stop_does_not_wait_for_what_outlasts_the_grace_time() -> None:
    with running(simulated()) as runner:
        runner.submit([call(0), call(1, chat(simulate="sleep:600"))])
        assert runner.wait(PATIENCE_S)
        begin = time.monotonic()
        runner.stop(0.2)
        assert time.monotonic() - begin < PATIENCE_S
        assert [one.id for one in runner.take()] == [call(0).id]
    assert not _alive("engine-loop")


def _alive(name: str) -> bool:
    return any(thread.name == name for thread in threading.enumerate())
