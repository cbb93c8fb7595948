"""How fast a lane goes, and when it will be through. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

#: How far the counted rate may be from the true one: two standard deviations of a Poisson count …
DEVIATIONS: Final = 2.0
#: … and never surer than a tenth: rates drift.
UNCERTAINTY_MIN: Final = 0.1
UNCERTAINTY_MAX: Final = 0.9


@dataclass(frozen=True, slots=True)
class LaneEta:
    """Records done within a time."""

    done: float
    seconds: float

    @property
    def rate_per_s(self) -> float:
        return self.done / self.seconds if self.seconds > 0 else 0.0

    def eta_s(self, lag: int) -> tuple[float, float] | None:
        """Seconds until `lag` more are done, from and to; None while nothing moves."""
        if lag == 0:
            return 0.0, 0.0
        if self.rate_per_s <= 0:
            return None
        uncertainty = min(UNCERTAINTY_MAX, max(UNCERTAINTY_MIN, DEVIATIONS / math.sqrt(self.done)))
        middle_s = lag / self.rate_per_s
        return middle_s / (1 + uncertainty), middle_s / (1 - uncertainty)


def duration(seconds: float) -> str:
    """For people: `8 s`, `3 min`, `2.5 h`, `4 d`."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{seconds:.0f} s"
