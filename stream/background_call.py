"""A transaction on a thread of its own, while the Kafka thread does what needs no Kafka.

A transaction is four or five answers of the broker, one after the other: more waiting than work. Whoever waits for it
may fill the engine's free slots meanwhile. Its end is noted by the thread that began it.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final, Generic, TypeVar

T = TypeVar("T")

#: Nothing could be done meanwhile: look again after so long. The transaction's end is noticed at once.
LOOK_S: Final = 0.002
#: True: something was done, and there may be more. False: nothing now. None: nothing until the transaction has ended.
Meanwhile = Callable[[], bool | None]


def nothing() -> None:
    """Only wait."""


class BackgroundCalls(Generic[T]):
    """One daemon thread for all calls: a new one each time would spread memory over the allocator's arenas."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], T] | None] = SimpleQueue()
        self._ends: SimpleQueue[tuple[T] | BaseException] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def make(self, call: Callable[[], T], meanwhile: Meanwhile) -> T:
        """What `call` gives or raises. Without anything to do meanwhile it is called here and now.

        What `meanwhile` raises comes out once the call has ended.
        """
        if meanwhile() is None:
            return call()
        self._begin()
        self._calls.put(call)
        try:
            end = self._await(meanwhile)
        except BaseException:
            self._ends.get()
            raise
        if isinstance(end, BaseException):
            raise end
        return end[0]

    def _begin(self) -> None:
        """The thread knows the queues alone, and ends when nobody knows us any more."""
        if self._thread is None:
            queues = (self._calls, self._ends)
            self._thread = threading.Thread(target=_work, args=queues, name="transactions", daemon=True)
            self._thread.start()
            weakref.finalize(self, self._calls.put, None)

    def _await(self, meanwhile: Meanwhile) -> tuple[T] | BaseException:
        while True:
            moved = meanwhile()
            if moved is None:
                return self._ends.get()
            try:
                return self._ends.get_nowait() if moved else self._ends.get(timeout=LOOK_S)
            except Empty:
                continue


def _work(calls: SimpleQueue[Callable[[], T] | None], ends: SimpleQueue[tuple[T] | BaseException]) -> None:
    while (call := calls.get()) is not None:
        try:
            ends.put((call(),))
        except BaseException as error:  # raised again where it was asked for
            ends.put(error)
        del call  # it holds a whole transaction
