"""What the worker tests share: requests, calls, a scripted engine, a runner that is always stopped."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from schemas.lane import Lane
from schemas.request import Body, Message, Request, Task
from schemas.source import Source
from workers.call import Call, Finished
from workers.clock import SystemClock
from workers.endpoint import SimulatedTimes
from workers.engines.base import Answer, Engine, EngineCall, Tokens
from workers.engines.simulated import SimulatedEngine
from workers.journal import NoJournal, StartJournal
from workers.probe import PROBE_ID
from workers.retry_policy import RetryPolicy
from workers.runner import Runner

#: Longest wait of a test for something that takes milliseconds.
PATIENCE_S = 60.0
#: Quick retries; the limits themselves are the defaults.
QUICK = RetryPolicy(backoff_s=0.001, backoff_s_max=0.002, stall_s=0.2, engine_start_pause_s=0.01)


def chat(text: str = "hello", simulate: str | None = None, **body: Any) -> Request:
    metadata = None if simulate is None else {"simulate": simulate}
    return Request(Task.CHAT, Body(model="sim", messages=[Message("user", text)], metadata=metadata, **body))


def call(number: int, request: Request | None = None, *, deadline_ms: int | None = None) -> Call:
    source = Source("requests", 0, number)
    return Call(
        f"work/0/{number}/0", request or chat(f"hello {number}"), source, "acme", Lane.BATCH, deadline_ms
    )


def engine_call(request: Request, attempt: int = 1) -> EngineCall:
    return EngineCall("work/0/1/0", request, Source("requests", 0, 1), "acme", Lane.BATCH, attempt)


def simulated() -> SimulatedEngine:
    return SimulatedEngine(SimulatedTimes())


class ScriptedEngine:
    """Does what a test says for each call, and remembers what ran beside what."""

    tasks = frozenset(Task)

    def __init__(self, act: Callable[[EngineCall], Any]) -> None:
        self._act = act
        self.inside: set[str] = set()
        self.company: list[tuple[str, frozenset[str]]] = []
        self.starts = 0
        self.step = 0

    async def start(self) -> None:
        self.starts += 1
        self.inside.clear()

    async def submit_later(self, call: EngineCall) -> Answer:
        self.inside.add(call.id)
        self.company.append((call.id, frozenset(self.inside)))
        try:
            await asyncio.sleep(0.005)
            outcome = self._act(call)
        finally:
            self.inside.discard(call.id)
        if isinstance(outcome, BaseException):
            raise outcome
        return Answer({"text": call.id}, Tokens(1, 2, 0), 0.001)

    def submit(self, call: EngineCall) -> Any:
        return Answer({}, Tokens()) if call.id == PROBE_ID else self.submit_later(call)

    def prepare(self, request: Request) -> Any:
        return None

    def steps(self) -> int:
        self.step += 1
        return self.step

    async def stop(self) -> None:
        """Nothing to end."""


class HeldEngine(ScriptedEngine):
    """Ends the calls of these ids only when it is let, the others at once."""

    def __init__(self, *held: str) -> None:
        super().__init__(lambda _call: None)
        self._held = frozenset(held)
        self.let = threading.Event()

    async def submit_later(self, call: EngineCall) -> Answer:
        if call.id in self._held:
            await asyncio.to_thread(self.let.wait, PATIENCE_S)
        return await super().submit_later(call)


@contextmanager
def running(
    engine: Engine, rules: RetryPolicy = QUICK, journal: StartJournal | None = None
) -> Iterator[Runner]:
    runner = Runner(engine, rules, SystemClock(), random.Random(1), journal or NoJournal())
    runner.start(PATIENCE_S)
    try:
        yield runner
    finally:
        runner.stop(0.0)


def finish(runner: Runner, calls: Sequence[Call], count: int | None = None) -> dict[str, Finished]:
    """Hand over and wait until `count` (all) have ended; by id."""
    runner.submit(calls)
    return collect(runner, len(calls) if count is None else count)


def collect(runner: Runner, count: int) -> dict[str, Finished]:
    ended: dict[str, Finished] = {}
    limit_s = time.monotonic() + PATIENCE_S
    while len(ended) < count:
        runner.wait(0.1)
        runner.check()
        for one in runner.take():
            assert one.id not in ended, f"{one.id} ended twice"
            ended[one.id] = one
        assert time.monotonic() < limit_s, f"{len(ended)} of {count} ended"
    return ended
