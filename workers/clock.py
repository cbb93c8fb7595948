"""Time as a value that is handed in: the system's for production, a settable one for tests."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Two times: one to write down, one to measure with."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""

    def monotonic_s(self) -> float:
        """Seconds that never go back."""


class SystemClock:
    """The machine's own time."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_s(self) -> float:
        return time.monotonic()
