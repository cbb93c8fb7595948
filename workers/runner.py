"""The runner: the door between the Kafka thread and the engine loop. One thread owns Kafka, one loop
owns the engine.

Calls go in by batches with one wake-up, finished ones come out by batches without a lock: a deque's `append` and
`popleft` are atomic. All decisions are in `CallLoop`; this file is threads alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from workers.call import Call, Finished
from workers.call_loop import CallLoop
from workers.clock import Clock
from workers.engine_life import EngineLife
from workers.engines.base import Engine
from workers.errors import EngineDead, EngineStartError
from workers.journal import StartJournal
from workers.listener import Listener
from workers.preparation import Preparation
from workers.retry_policy import RetryPolicy

#: How often a waiting start looks whether it shall give up.
START_LOOK_S = 0.1


class Runner:
    """Runs calls in one engine. Its methods belong to one thread, the one that owns Kafka."""

    def __init__(
        self, engine: Engine, rules: RetryPolicy, clock: Clock, rng: random.Random, journal: StartJournal
    ) -> None:
        listener = Listener(ended=self._publish, engine_died=self._engine_died, crashed=self._crashed)
        self._calls = CallLoop(engine, rules, clock, rng, journal, listener)
        self._preparation = Preparation(engine, self._calls.accept, self._crashed)
        self._life = EngineLife(engine, rules, clock, journal.evidence, self._crashed)
        self._rules = rules
        self._journal = journal
        self._inbox: deque[Sequence[Call]] = deque()
        self._outbox: deque[list[Finished]] = deque()
        self._woken = False
        # Each is written by one thread only: handed over by Kafka's, gone (ended, cancelled) by the loop's.
        self._handed = 0
        self._gone = 0
        self._crash: BaseException | None = None
        self._ready = threading.Event()
        self._up = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None
        # A stop may come before the loop's thread has made `_end`.
        self._ended = False
        self._thread = threading.Thread(target=self._run_loop, name="engine-loop", daemon=True)

    def start(self, timeout_s: float, give_up: Callable[[], bool] = lambda: False) -> None:
        """Start loop and engine; returns when calls can run.

        Raises EngineStartError, also after `timeout_s` or as soon as `give_up()` is true.
        """
        self._thread.start()
        left_s = timeout_s
        while not self._up.wait(min(START_LOOK_S, max(0.0, left_s))):
            self.check()
            left_s -= START_LOOK_S
            if left_s <= 0 or give_up():
                why = "asked to stop" if left_s > 0 else f"no answer within {timeout_s:g} s"
                raise EngineStartError(f"the engine did not start: {why}")

    def submit(self, calls: Sequence[Call]) -> None:
        """Hand over calls that may start now, with one wake-up of the loop.

        Never blocks and never refuses: the caller bounds `running` by the endpoint's slots and `ahead`.
        """
        if not calls:
            return
        self._handed += len(calls)
        self._inbox.append(calls)
        if not self._woken:
            self._woken = True
            self._call_soon(self._drain)

    def take(self) -> list[Finished]:
        """All that has ended since the last call. Never blocks."""
        self._ready.clear()
        taken: list[Finished] = []
        while self._outbox:
            taken += self._outbox.popleft()
        return taken

    def wait(self, timeout_s: float) -> bool:
        """Until something can be taken or the loop crashed, at most `timeout_s`; True where it is so."""
        return self._ready.wait(timeout_s)

    def cancel(self, ids: Sequence[str]) -> None:
        """Drop calls by their ids: no `Finished` comes for them, except for those that had just ended."""
        self._call_soon(self._guarded, self._cancel, tuple(ids))

    @property
    def running(self) -> int:
        """Calls handed over that neither ended nor were cancelled."""
        return self._handed - self._gone

    @property
    def ahead(self) -> int:
        """Calls that may be handed over beyond the slots: the engine answers on the spot, or others hold no slot yet."""
        at_once = self._rules.ahead_calls_max if self._calls.at_once else 0
        return at_once + min(self._preparation.count, self._rules.preparing_calls_max)

    @property
    def engine_is_up(self) -> bool:
        """The engine takes calls; not while it starts, or starts again after a death."""
        return self._calls.engine_is_up

    @property
    def alone(self) -> bool:
        """A poison suspect runs with nothing beside it; all others wait."""
        return self._calls.alone

    @property
    def outcomes(self) -> Mapping[str, int]:
        """Engine calls so far by outcome: answered, failed, retried, rejected, cancelled."""
        return self._calls.outcomes

    @property
    def restarts(self) -> int:
        """Times that a dead engine was brought back."""
        return self._life.restarts

    @property
    def repeats(self) -> int:
        """Engine calls of this process for records that had been started before."""
        return self._journal.repeats

    def check(self) -> None:
        """Raise what ended the loop: a programmer's error, or EngineStartError. Silent while it lives."""
        if self._crash is not None:
            raise self._crash

    def stop(self, grace_s: float) -> None:
        """Let running calls end for `grace_s`, cancel the rest, stop the engine, end the thread.

        What ended in time can still be taken afterwards.
        """
        if self._thread.ident is None:
            return
        # Woken by each batch that ends; `_ready` may also be set by answers that nobody took.
        deadline = threading.Event()
        timer = threading.Timer(grace_s, deadline.set)
        timer.start()
        while self.running and self._crash is None and not deadline.wait(0.01):
            pass
        timer.cancel()
        self._ended = True
        if self._end is not None:
            self._call_soon(self._end.set)
        self._thread.join(self._rules.engine_stop_s_max + 5)

    # The engine loop's side.

    def _run_loop(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as error:  # carried to the other thread, which raises it
            self._crashed(error)

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        if self._ended:
            return
        ending = self._loop.create_task(self._end.wait())
        starting = self._loop.create_task(self._life.start(self._calls))
        try:
            await asyncio.wait({starting, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not ending.done():
                await starting  # raises EngineStartError
                await self._watch_until(ending)
        finally:
            starting.cancel()
            ending.cancel()
            await self._life.stop()

    async def _watch_until(self, ending: asyncio.Task[bool]) -> None:
        self._up.set()
        watch = asyncio.get_running_loop().create_task(self._watch())
        await ending
        watch.cancel()

    async def _watch(self) -> None:
        try:
            await self._life.watch(self._calls)
        except Exception as error:  # a task's error would stay unseen
            self._crashed(error)

    def _call_soon(self, callback: Callable[..., object], *arguments: object) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: `check` says why
                self._loop.call_soon_threadsafe(callback, *arguments)

    def _guarded(self, act: Callable[..., object], *arguments: object) -> None:
        try:
            act(*arguments)
        except BaseException as error:  # asyncio would log it and go on
            self._crashed(error)

    def _drain(self) -> None:
        self._woken = False  # before the inbox is read: what comes later wakes anew
        while self._inbox:
            self._guarded(self._preparation.accept, self._inbox.popleft())

    def _cancel(self, ids: Sequence[str]) -> None:
        self._gone += self._preparation.cancel(ids) + self._calls.cancel(ids)

    def _publish(self, batch: list[Finished]) -> None:
        self._gone += len(batch)
        self._outbox.append(batch)
        self._ready.set()

    def _engine_died(self, error: EngineDead) -> None:
        self._life.died(self._calls, error)

    def _crashed(self, error: BaseException) -> None:
        self._crash = self._crash or error
        self._ready.set()
