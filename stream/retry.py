"""Trying again: pauses that double after each failure, and calls that are repeated until a deadline. Time is handed in."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import Final, TypeVar

from stream.errors import LogError, LogTimeout

_LOG = logging.getLogger(__name__)
T = TypeVar("T")

#: One try of a call that may time out.
TRY_S: Final = 30.0
#: No pause is doubled more often: the power would overflow long after any bound.
_DOUBLINGS_MAX: Final = 20


def doubled_s(first_s: float, longest_s: float, failures: int) -> float:
    """The pause after so many failures in a row; `first_s` after the first."""
    return min(longest_s, first_s * 2.0 ** min(max(0, failures - 1), _DOUBLINGS_MAX))


class BackOff:
    """The pause between tries that fail one after another, and the bound of all of them together."""

    def __init__(self, first_s: float, longest_s: float, give_up_s: float = math.inf) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._give_up_s = give_up_s
        self._since_s = 0.0
        #: In a row, and what the last one was.
        self.failures = 0
        self.cause = ""

    @property
    def pause_s(self) -> float:
        """Wait so long before the next try; 0 after a success."""
        return doubled_s(self._first_s, self._longest_s, self.failures) if self.failures else 0.0

    def failed(self, now_s: float, cause: str) -> None:
        """One more; LogError once they last for longer than `give_up_s`."""
        self.failures += 1
        self.cause = cause
        if self.failures == 1:
            self._since_s = now_s
        elif now_s - self._since_s > self._give_up_s:
            raise LogError(f"nothing could be committed for {now_s - self._since_s:.0f} s: {cause}")

    def succeeded(self) -> None:
        self.failures = 0


def retry_until(
    call: Callable[[float], T], deadline_s: float, clock_s: Callable[[], float], try_s: float = TRY_S
) -> T:
    """Repeat a call that may time out, until `deadline_s` of the clock; then LogTimeout comes out.

    `call` is given the seconds of one try.
    """
    while True:
        left_s = deadline_s - clock_s()
        try:
            return call(max(1.0, min(try_s, left_s)))
        except LogTimeout as error:
            if clock_s() >= deadline_s:
                raise
            _LOG.warning("asking again: %s", error)
