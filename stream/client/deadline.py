"""The time of one command, as its --timeout gives it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from stream.errors import LogTimeout, WaitedTooLong


class Deadline:
    """Runs from its making, over everything that the command does. None: the command takes as long as it takes."""

    def __init__(self, timeout_s: float | None, clock_s: Callable[[], float] = time.monotonic) -> None:
        self.timeout_s = math.inf if timeout_s is None else timeout_s
        self._clock_s = clock_s
        self._until_s = clock_s() + self.timeout_s

    @property
    def left_s(self) -> float:
        """WaitedTooLong when nothing is left."""
        left_s = self._until_s - self._clock_s()
        if left_s <= 0:
            raise self.over()
        return left_s

    def over(self) -> WaitedTooLong:
        return WaitedTooLong(f"not all was looked through in {self.timeout_s:g} s; give it a longer timeout")

    @contextmanager
    def asking(self, ask_s: float) -> Iterator[float]:
        """The seconds for a question that otherwise has `ask_s`. WaitedTooLong where it is our time that ends it."""
        left_s = self.left_s
        try:
            yield min(ask_s, left_s)
        except LogTimeout as silent:
            if left_s > ask_s:
                raise
            raise WaitedTooLong(f"not done in {self.timeout_s:g} s: {silent}") from silent
