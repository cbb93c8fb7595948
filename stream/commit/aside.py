"""A transaction on a thread of its own, while the Kafka thread does what needs no Kafka.

A transaction is four or five answers of the broker, one after the other: more waiting than work. Whoever waits for it
may fill the engine's free slots meanwhile. Its end is noted by the thread that began it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final, TypeVar

T = TypeVar("T")

#: Nothing could be done meanwhile: look again after so long. The transaction's end is noticed at once.
LOOK_S: Final = 0.002
#: True: something was done, and there may be more. False: nothing now. None: nothing until the transaction has ended.
Meanwhile = Callable[[], bool | None]


def nothing() -> None:
    """Only wait."""


def aside(call: Callable[[], T], meanwhile: Meanwhile) -> T:
    """What `call` gives or raises. Without anything to do meanwhile it is called here and now.

    What `meanwhile` raises comes out once the call has ended.
    """
    if meanwhile() is None:
        return call()
    ends: SimpleQueue[tuple[T] | BaseException] = SimpleQueue()
    threading.Thread(target=_run, args=(call, ends), name="transaction", daemon=True).start()
    try:
        end = _await(ends, meanwhile)
    except BaseException:
        ends.get()
        raise
    if isinstance(end, BaseException):
        raise end
    return end[0]


def _run(call: Callable[[], T], ends: SimpleQueue[tuple[T] | BaseException]) -> None:
    try:
        ends.put((call(),))
    except BaseException as error:  # raised again where it was asked for
        ends.put(error)


def _await(ends: SimpleQueue[tuple[T] | BaseException], meanwhile: Meanwhile) -> tuple[T] | BaseException:
    while True:
        moved = meanwhile()
        if moved is None:
            return ends.get()
        try:
            return ends.get_nowait() if moved else ends.get(timeout=LOOK_S)
        except Empty:
            continue
