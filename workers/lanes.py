"""Which lane's waiting calls start next: the highest first, and the lowest never starves.

A pure choice over counts. The caller owns the queues and the slots; this says how many calls to take from which.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from schemas.lane import LANES, Lane

#: A waiting lane is passed over by so many starts of higher ones, then one of its calls starts.
PASSED_OVER_MAX: Final = 15


class Turn(NamedTuple):
    """Take the next `calls` waiting calls of `lane`."""

    lane: Lane
    calls: int


class LaneTurns:
    """Shares free slots among the lanes, remembering how often each waiting lane was passed over."""

    def __init__(self, passed_over_max: int = PASSED_OVER_MAX) -> None:
        self._passed_over_max = passed_over_max
        self._passed = dict.fromkeys(LANES, 0)

    def share(self, waiting: Mapping[Lane, int], slots: int) -> list[Turn]:
        """The turns for `slots` free slots, in the order in which to start them; sums to min(slots, all waiting)."""
        left = {lane: waiting[lane] for lane in LANES if waiting.get(lane, 0) > 0}
        turns: list[Turn] = []
        while slots > 0 and left:
            turn = self._next(left, slots)
            turns.append(turn)
            slots -= turn.calls
            left[turn.lane] -= turn.calls
            if not left[turn.lane]:
                del left[turn.lane]
        return turns

    def _next(self, left: Mapping[Lane, int], slots: int) -> Turn:
        """One run of calls of a single lane: up to the next moment at which a lower lane is due."""
        lanes = list(left)
        due = next((lane for lane in reversed(lanes) if self._passed[lane] >= self._passed_over_max), None)
        if due is not None:
            return self._taken(Turn(due, 1), [])
        lower = lanes[1:]
        patience = min((self._passed_over_max - self._passed[lane] for lane in lower), default=slots)
        return self._taken(Turn(lanes[0], min(left[lanes[0]], slots, patience)), lower)

    def _taken(self, turn: Turn, passed_over: list[Lane]) -> Turn:
        self._passed[turn.lane] = 0
        for lane in passed_over:
            self._passed[lane] += turn.calls
        return turn
