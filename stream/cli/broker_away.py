"""A command that waits says so where it is the broker that is away."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from stream.errors import LogTimeout
from stream.log.base import LogAdmin

#: Nothing came for so long: the broker is asked, and then again and again.
ASK_EVERY_S: Final = 10.0
ANSWER_S: Final = 5.0


class BrokerAway:
    """Told after each look whether something came."""

    def __init__(
        self, admin: LogAdmin, tell: Callable[[str], None], clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._admin = admin
        self._tell = tell
        self._clock_s = clock_s
        self._asked_s = clock_s()
        self._away = False

    def looked(self, came: bool) -> None:
        """Tells once that the broker is away, and once that it is back."""
        now_s = self._clock_s()
        if came:
            self._asked_s = now_s
            self._is(False)
        elif now_s - self._asked_s >= ASK_EVERY_S:
            self._is(not self._answers())
            self._asked_s = self._clock_s()

    def _answers(self) -> bool:
        try:
            self._admin.topics(ANSWER_S)
        except LogTimeout:
            return False
        return True

    def _is(self, away: bool) -> None:
        if away != self._away:
            self._away = away
            self._tell("the broker does not answer: waiting for it" if away else "the broker answers again")
