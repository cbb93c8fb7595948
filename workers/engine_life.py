"""An engine's life on its loop: start, watch for a hang, restart after a death, stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from workers.call_loop import CallLoop
from workers.clock import Clock
from workers.engines.base import Engine
from workers.errors import EngineBroken, EngineDead, EngineStartError
from workers.evidence import Keeper
from workers.probe import probe
from workers.retry_policy import RetryPolicy
from workers.stall import StallWatch

_LOG = logging.getLogger(__name__)
#: Looks at the engine's steps so often, or four times within `stall_s`.
WATCH_S_MAX = 1.0


class EngineLife:
    """Keeps one engine alive. `crashed` is told when it cannot be."""

    def __init__(
        self,
        engine: Engine,
        rules: RetryPolicy,
        clock: Clock,
        evidence: Keeper,
        crashed: Callable[[BaseException], None],
    ) -> None:
        self._engine = engine
        self._rules = rules
        self._clock = clock
        self._evidence = evidence
        self._crashed = crashed
        self._restart: asyncio.Task[None] | None = None
        self.restarts = 0

    async def start(self, calls: CallLoop) -> None:
        """The first start: EngineStartError goes to the caller, who ends the process."""
        await self._engine.start()
        self._evidence.probing()
        await self._probe()
        self._evidence.probed()
        calls.engine_up()

    async def _probe(self) -> None:
        """No record is blamed for the death of an engine that cannot do anything."""
        try:
            await probe(self._engine, self._rules.probe_s_max)
        except EngineDead as error:
            raise EngineBroken(f"the engine starts, but dies of a call of our own: {error}") from error

    def died(self, calls: CallLoop, error: EngineDead) -> None:
        """Begin to bring it back; the calls wait meanwhile."""
        _LOG.warning("the engine died: %s; starting it again, its calls wait", error)
        self._restart = asyncio.get_running_loop().create_task(self._bring_back(calls))

    async def _bring_back(self, calls: CallLoop) -> None:
        try:
            await self._start_again()
            calls.engine_up()
        except Exception as error:  # a task's error would stay unseen
            self._crashed(error)

    async def _start_again(self) -> None:
        for left in reversed(range(self._rules.engine_starts_max)):
            await self._stop_engine()
            try:
                await self._engine.start()
                await self._probe()
            except EngineStartError:
                if not left:
                    raise
                await asyncio.sleep(self._rules.engine_start_pause_s)
            else:
                self.restarts += 1
                _LOG.warning("the engine runs again (restart %d)", self.restarts)
                return

    async def watch(self, calls: CallLoop) -> None:
        """Until cancelled: an engine that died in silence or hangs is declared dead."""
        watch, restarts = StallWatch(self._rules, self._clock.monotonic_s()), self.restarts
        while True:
            await asyncio.sleep(min(WATCH_S_MAX, self._rules.stall_s / 4))
            if self._restart is not None and not self._restart.done():
                continue
            if self.restarts != restarts:
                restarts = self.restarts
                watch.begin_anew(self._clock.monotonic_s())
            try:
                self._look(watch, calls)
            except EngineDead as error:
                calls.engine_died(error)
                calls.ends.flush()

    def _look(self, watch: StallWatch, calls: CallLoop) -> None:
        steps = self._engine.steps()
        now_s = self._clock.monotonic_s()
        if watch.hangs(steps=steps, ended=calls.ends.count, running=calls.inside, now_s=now_s):
            raise EngineDead(f"it hangs: no step and no answer for more than {watch.patience_s:.1f} s")

    async def stop(self) -> None:
        """End a restart that is under way, then the engine."""
        if self._restart is not None:
            self._restart.cancel()
            await asyncio.gather(self._restart, return_exceptions=True)
        await self._stop_engine()

    async def _stop_engine(self) -> None:
        """A dead engine may not even stop in time: its process group is ended with ours."""
        try:
            await asyncio.wait_for(self._engine.stop(), self._rules.engine_stop_s_max)
        except TimeoutError:
            return
