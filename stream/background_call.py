"""A call on a thread of its own: whoever waits for it does something meanwhile, or gives up after a bound.

A transaction is four or five answers of the broker, one after the other: more waiting than work. Whoever waits for it
may fill the engine's free slots meanwhile.

librdkafka 2.16's transactional calls take a time-out and yet can wait for ever once the broker went away in the middle
of one (seen: `send_offsets_to_transaction`, minutes after the broker was back; librdkafka 5456: that call never looks at
its time-out; 5511: a coordinator that was missing from one answer about the cluster is never asked for again). Nobody
can interrupt them: whoever waits gives up in time, and the client is abandoned with its thread.
"""

from __future__ import annotations

import math
import threading
import time
import weakref
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final, TypeVar

T = TypeVar("T")

#: Nothing could be done meanwhile: look again after so long. The call's end is noticed at once.
LOOK_S: Final = 0.002
#: After its time is over a call has this long more, by which a process that was stopped has made up for it.
AWAKE_S: Final = 1.0
#: True: something was done, and there may be more. False: nothing now. None: nothing until the call has ended.
Meanwhile = Callable[[], bool | None]

_Call = Callable[[], object]
_End = tuple[object] | BaseException


class CallStuck(Exception):
    """The call has not come back. Its thread waits on, for ever perhaps."""


def nothing() -> None:
    """Only wait."""


class BackgroundCall:
    """One daemon thread, one call at a time: a new thread each time would spread memory over the allocator's arenas."""

    def __init__(self, name: str) -> None:
        """`name`: of the thread."""
        self._name = name
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._ends: SimpleQueue[_End] = SimpleQueue()
        self._thread: threading.Thread | None = None
        #: A call did not come back: no other is made after it.
        self.stuck = False

    def make(
        self, call: Callable[[], T], while_waiting: Meanwhile = nothing, *, wait_s: float = math.inf
    ) -> T:
        """What `call` gives or raises; CallStuck when it is not back in `wait_s` seconds, or an earlier one is not.

        A call without a bound, with nothing to do while it lasts, is made here and now. What `while_waiting` raises
        comes out once the call has ended.
        """
        if self.stuck:
            raise CallStuck
        if while_waiting() is None:
            if wait_s == math.inf:
                return call()
            while_waiting = nothing
        return self._elsewhere(call, while_waiting, wait_s)

    def close(self) -> None:
        """The thread ends after the call it is in."""
        self._calls.put(None)

    def _elsewhere(self, call: Callable[[], T], while_waiting: Meanwhile, wait_s: float) -> T:
        given: list[T] = []
        self._begin()
        self._calls.put(lambda: given.append(call()))
        until_s = time.monotonic() + wait_s
        try:
            end = self._await(while_waiting, until_s)
        except Empty:
            self.stuck = True
            raise CallStuck from None
        except BaseException:
            try:
                self._end_within(until_s)
            except Empty:
                self.stuck = True
            raise
        if isinstance(end, BaseException):
            raise end
        return given[0]

    def _begin(self) -> None:
        """The thread knows the queues alone, and ends when nobody knows us any more."""
        if self._thread is None:
            queues = (self._calls, self._ends)
            self._thread = threading.Thread(target=_work, args=queues, name=self._name, daemon=True)
            self._thread.start()
            weakref.finalize(self, self._calls.put, None)

    def _await(self, while_waiting: Meanwhile, until_s: float) -> _End:
        """Empty: it is not back in time."""
        while (moved := while_waiting()) is not None and time.monotonic() < until_s:
            try:
                return self._ends.get_nowait() if moved else self._ends.get(timeout=LOOK_S)
            except Empty:
                continue
        return self._end_within(until_s)

    def _end_within(self, until_s: float) -> _End:
        if until_s == math.inf:
            return self._ends.get()
        try:
            return self._ends.get(timeout=max(0.0, until_s - time.monotonic()))
        except Empty:
            # It may be we who stood still (a stopped process): then the call has had no time either.
            return self._ends.get(timeout=AWAKE_S)


def _work(calls: SimpleQueue[_Call | None], ends: SimpleQueue[_End]) -> None:
    while (call := calls.get()) is not None:
        try:
            ends.put((call(),))
        except BaseException as error:  # raised again where it was asked for
            ends.put(error)
        del call  # it holds a whole transaction, or a client
