"""Before anybody is convicted of an engine's death, the next engine answers a call of our own."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from schemas.failure import ErrorClass, Failure
from schemas.request import Task
from tests.workers.stage import PATIENCE_S, QUICK, ScriptedEngine, call, finish, running
from workers.clock import SystemClock
from workers.endpoint import SimulatedTimes
from workers.engines.base import Answer, EngineCall
from workers.engines.simulated import SimulatedEngine
from workers.errors import EngineBroken, EngineDead, EngineStartError, RequestRejected
from workers.evidence import read_evidence
from workers.journal import Journal, NoJournal
from workers.probe import PROBE_ID, probe
from workers.runner import Runner

BROKEN = {"dies_at_every_call": True}


class BreaksLater(ScriptedEngine):
    """Well at its first start; from its first record on it dies of every call, ours among them."""

    broken = False

    def submit(self, call: EngineCall) -> Any:
        self.broken = self.broken or call.id != PROBE_ID
        if self.broken:
            raise EngineDead("out of order")
        return super().submit(call)


def runner_of(engine: Any, journal: Journal | NoJournal | None = None) -> Runner:
    return Runner(engine, QUICK, SystemClock(), random.Random(1), journal or NoJournal())


def test_an_engine_that_dies_of_every_call_does_not_start() -> None:
    runner = runner_of(SimulatedEngine(SimulatedTimes(), BROKEN))
    with pytest.raises(EngineStartError, match="dies of a call of our own"):
        runner.start(PATIENCE_S)
    runner.stop(0.0)


def test_an_engine_that_breaks_at_work_convicts_nobody_and_ends_the_process() -> None:
    engine = BreaksLater(lambda _call: None)
    runner = runner_of(engine)
    runner.start(PATIENCE_S)
    runner.submit([call(number) for number in range(6)])
    assert runner.wait(PATIENCE_S)
    with pytest.raises(EngineBroken, match="out of order"):
        runner.check()
    assert runner.take() == []
    assert engine.starts == 1 + QUICK.engine_starts_max
    runner.stop(0.0)


def test_a_record_is_convicted_once_the_next_engine_has_answered() -> None:
    killer = call(3).id
    seen: list[str] = []

    class Watched(ScriptedEngine):
        def submit(self, call: EngineCall) -> Any:
            seen.append(call.id)
            return super().submit(call)

    with running(Watched(lambda one: EngineDead("it") if one.id == killer else None)) as runner:
        [ended] = finish(runner, [call(3)]).values()
    assert isinstance(ended.outcome, Failure)
    assert ended.outcome.error_class is ErrorClass.POISON
    assert seen == [PROBE_ID, killer, PROBE_ID, killer, PROBE_ID, killer, PROBE_ID]


def test_a_cancelled_record_is_not_convicted_afterwards() -> None:
    class SlowToReturn(ScriptedEngine):
        async def start(self) -> None:
            if self.starts == 3:
                await asyncio.to_thread(cancelled)
            await super().start()

    def cancelled() -> None:
        runner.cancel([call(3).id])

    engine = SlowToReturn(lambda one: EngineDead("it") if one.id == call(3).id else None)
    with running(engine) as runner:
        runner.submit([call(3)])
        while runner.restarts < 3:
            assert not runner.wait(0.01)
        [other] = finish(runner, [call(4)]).values()
    assert isinstance(other.outcome, Answer)


def test_an_engine_that_says_nothing_to_one_token_is_dead() -> None:
    class Silent(ScriptedEngine):
        def submit(self, call: EngineCall) -> Any:
            return asyncio.get_running_loop().create_future()

    with pytest.raises(EngineDead, match="no answer to one token"):
        asyncio.run(probe(Silent(lambda _call: None), 0.01))


def test_an_engine_that_refuses_lives_and_an_embedder_is_asked_to_embed() -> None:
    asked: list[Task] = []

    class Embedder(ScriptedEngine):
        tasks = frozenset({Task.EMBEDDING})

        def submit(self, call: EngineCall) -> Any:
            asked.append(call.request.task)
            raise RequestRejected(ErrorClass.INVALID, "validate", "no")  # type: ignore[arg-type]

    asyncio.run(probe(Embedder(lambda _call: None), 1.0))
    assert asked == [Task.EMBEDDING]


def test_a_process_that_its_probe_ends_leaves_that_behind(tmp_path: Path) -> None:
    path = tmp_path / "one.starts"
    journal = Journal(path)
    journal.evidence.marked({"work/0": 1})
    runner = runner_of(SimulatedEngine(SimulatedTimes(), BROKEN), journal)
    with pytest.raises(EngineBroken):
        runner.start(PATIENCE_S)
    runner.stop(0.0)
    journal.close()
    assert read_evidence(path.with_suffix(".alone").read_text()).broken
