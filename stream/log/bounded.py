"""Calls that may never come back, made where that does no harm.

librdkafka 2.16's transactional calls take a time-out and yet can wait for ever once the broker went away in the middle
of one (seen: `send_offsets_to_transaction`, minutes after the broker was back; librdkafka 5456: that call never looks at
its time-out; 5511: a coordinator that was missing from one answer about the cluster is never asked for again). Nobody
can interrupt them, so they are made on a thread of their own: whoever waits gives up in time, and the client is
abandoned with its thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final

#: After its time is over a call has this long more, by which a process that was stopped has made up for it.
AWAKE_S: Final = 1.0


class CallStuck(Exception):
    """The call has not come back. Its thread waits on, for ever perhaps."""


class BoundedCalls:
    """One call at a time on a daemon thread. After CallStuck no further call is made."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[Callable[..., object], tuple[object, ...]] | None] = SimpleQueue()
        #: What each call raised; None: it came back.
        self._ends: SimpleQueue[BaseException | None] = SimpleQueue()
        self.stuck = False
        threading.Thread(target=self._work, name="transaction-calls", daemon=True).start()

    def make(self, call: Callable[..., object], *arguments: object, wait_s: float) -> None:
        """Raises what `call` raises; CallStuck when it is not back in `wait_s` seconds, or an earlier one is not."""
        if self.stuck:
            raise CallStuck
        self._calls.put((call, arguments))
        try:
            error = self._end_within(wait_s)
        except Empty:
            self.stuck = True
            raise CallStuck from None
        if error is not None:
            raise error

    def _end_within(self, wait_s: float) -> BaseException | None:
        try:
            return self._ends.get(timeout=wait_s)
        except Empty:
            # It may be we who stood still (a stopped process): then the call has had no time either.
            return self._ends.get(timeout=AWAKE_S)

    def close(self) -> None:
        """The thread ends after the call it is in."""
        self._calls.put(None)

    def _work(self) -> None:
        while (todo := self._calls.get()) is not None:
            call, arguments = todo
            try:
                call(*arguments)
            except BaseException as error:
                self._ends.put(error)
            else:
                self._ends.put(None)
            del todo, call, arguments  # a client must not live on in here
