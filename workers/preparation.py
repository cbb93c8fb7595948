"""Calls that wait for something that needs none of the engine's room, such as the compiler of their structure.

They wait in front of the call loop and hold no slot, so that a burst of dear structures delays only itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from workers.call import Call
from workers.engines.base import Engine
from workers.errors import ENDS_ATTEMPT


class Preparation:
    """Belongs to the engine loop. `accept`: the call loop's; `crashed` is told of a programmer's error.

    Bounded by what the Kafka thread hands over: it never exceeds the slots and `Rules.preparing_calls_max`.
    """

    def __init__(
        self,
        engine: Engine,
        accept: Callable[[Sequence[Call]], None],
        crashed: Callable[[BaseException], None],
    ) -> None:
        self._engine = engine
        self._accept = accept
        self._crashed = crashed
        self._waiting: dict[str, asyncio.Future[None]] = {}

    @property
    def count(self) -> int:
        """Calls that wait now."""
        return len(self._waiting)

    def accept(self, calls: Sequence[Call]) -> None:
        """Those with nothing to wait for go on at once, in order; the others follow, each as soon as it may."""
        ready = [call for call in calls if not self._begun(call)]
        if ready:
            self._accept(ready)

    def cancel(self, ids: Sequence[str]) -> int:
        """Forget these calls; the number of those that waited."""
        found = [waiting for each in ids if (waiting := self._waiting.pop(each, None)) is not None]
        for waiting in found:
            waiting.cancel()
        return len(found)

    def _begun(self, call: Call) -> bool:
        try:
            work = self._engine.prepare(call.request)
        except ENDS_ATTEMPT:
            return False  # `submit` says it again
        if work is None:
            return False
        waiting = self._waiting[call.id] = asyncio.ensure_future(work)
        waiting.add_done_callback(lambda done: self._done(call, done))
        return True

    def _done(self, call: Call, done: asyncio.Future[None]) -> None:
        if self._waiting.pop(call.id, None) is None:
            return  # cancelled
        error = None if done.cancelled() else done.exception()
        if error is not None and not isinstance(error, ENDS_ATTEMPT):
            self._crashed(error)
            return
        try:
            self._accept([call])
        except BaseException as wrong:  # asyncio would log it and go on
            self._crashed(wrong)
