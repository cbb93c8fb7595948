"""How far a batch is, how fast it goes, and how long it takes. Pure."""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

from stream.client.eta import LaneEta, duration

#: The rate is that of so long; a shorter one jumps, a longer one remembers how it began.
WINDOW_S: Final = 60.0
#: Looks that are remembered: one a second.
LOOKS_MAX: Final = 64


class Progress(NamedTuple):
    """One look at a batch."""

    done: int
    failed: int
    rows: int
    rate_per_s: float
    #: From and to; None while nothing moves.
    left_s: tuple[float, float] | None

    def words(self) -> str:
        """`1,200 of 10,000 (12 %), 56.1/s, 2 to 3 min left, 3 errors`."""
        share = 100 * self.done // self.rows if self.rows else 100
        parts = [f"{self.done:,} of {self.rows:,} ({share} %)", f"{self.rate_per_s:.1f}/s", self._left()]
        if self.failed:
            parts.append(f"{self.failed:,} errors" if self.failed > 1 else "1 error")
        return ", ".join(part for part in parts if part)

    def _left(self) -> str:
        if self.done == self.rows:
            return ""
        if self.left_s is None:
            return "time left not known yet"
        low, high = (duration(seconds) for seconds in self.left_s)
        return f"{low} left" if low == high else f"{low} to {high} left"


class Tempo:
    """Remembers what was done when; `done` never falls, so nothing that is shown jumps back."""

    def __init__(self, rows: int, done: int, now_s: float) -> None:
        self._rows = rows
        self._looks = deque([(now_s, done)], maxlen=LOOKS_MAX)

    def look(self, done: int, failed: int, now_s: float) -> Progress:
        self._looks.append((now_s, done))
        while len(self._looks) > 2 and now_s - self._looks[0][0] > WINDOW_S:
            self._looks.popleft()
        begin_s, begin = self._looks[0]
        pace = LaneEta(done - begin, now_s - begin_s)
        return Progress(done, failed, self._rows, pace.rate_per_s, pace.eta_s(self._rows - done))
