"""A batch that hears nothing: first somebody is told why, in the end it is given up, to be gone on with later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from stream.errors import LogError, LogTimeout, StreamError

#: Without an outcome for so long, the broker and the workers are asked.
LOOK_EVERY_S: Final = 30.0
#: Without a sign of life of anybody who could answer. A long answer is no silence: its worker beats.
GIVE_UP_S: Final = 900.0

#: Whether anybody beats who could answer; LogTimeout where the broker is away.
Alive = Callable[[], bool]


class Quiet:
    """Told of each outcome, asked in between."""

    def __init__(self, alive: Alive, say: Callable[[str], None], now_s: float) -> None:
        self._alive = alive
        self._say = say
        self._looked_s = self._life_s = now_s
        self._told: str | None = None

    def heard(self, now_s: float) -> None:
        self._looked_s = self._life_s = now_s
        self._told = None

    def check(self, now_s: float) -> None:
        """StreamError when nobody has lived for GIVE_UP_S."""
        if now_s - self._looked_s < LOOK_EVERY_S:
            return
        self._looked_s = now_s
        if (silent := self._silent()) is None:
            self._life_s, self._told = now_s, None
            return
        if now_s - self._life_s >= GIVE_UP_S:
            raise StreamError(
                f"{silent} for {GIVE_UP_S:.0f} s; the same command goes on where this one stopped"
            )
        if silent != self._told:
            self._told = silent
            self._say(f"waiting: {silent}")

    def _silent(self) -> str | None:
        try:
            return None if self._alive() else "no worker tells of itself (see `headrace status`)"
        except LogTimeout:
            return "the broker does not answer"
        except LogError as wrong:
            return f"the broker cannot be asked: {wrong}"
