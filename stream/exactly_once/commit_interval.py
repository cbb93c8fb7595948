"""How long finished answers are gathered for one transaction: the longer, the more transactions cost here. Pure.

An engine that computes on the same cores pays for every transaction; on a busy or small machine ten of them a second
would take a tenth of it (measured: 15 to 25 ms of the broker alone for each, however few records it holds).
"""

from __future__ import annotations

from typing import Final

#: A transaction follows the last one after at least so many times what one takes …
TIMES: Final = 20
#: … yet nobody waits longer than this, unless the configured interval itself is longer.
INTERVAL_S_MAX: Final = 1.0
#: Weight of the newest transaction in the average.
NEWEST: Final = 0.2


class CommitInterval:
    """The commit interval. `least_s`: the configured one."""

    def __init__(self, least_s: float) -> None:
        self._least_s = least_s
        self._average_s = 0.0
        self.interval_s = least_s

    def took(self, seconds: float) -> None:
        """A transaction has succeeded within `seconds`."""
        self._average_s += NEWEST * (seconds - self._average_s)
        self.interval_s = max(self._least_s, min(INTERVAL_S_MAX, TIMES * self._average_s))
