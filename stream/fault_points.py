"""Named places where the chaos suite may kill or freeze a role; without faults, reaching one costs a look-up.

The text is a comma list of ``POINT:ACTION[:NTH]``: at the NTH time (1 by default) that POINT is reached, the
process gets ACTION, `kill` (SIGKILL) or `stop` (SIGSTOP, until somebody sends SIGCONT). Roles read `VARIABLE`
once at their start.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from stream.errors import UsageError

VARIABLE: Final = "HEADRACE_FAULT_POINTS"

#: In the order of a record's life: its answer is ready; its transaction is begun, has its outputs, has its
#: offsets, is over.
POINTS: Final = ("done", "begun", "produced", "offsets_sent", "committed")
ACTIONS: Final = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens at which arrival (1 = the first) at a point."""

    point: str
    action: str
    nth: int = 1

    @classmethod
    def parse(cls, text: str) -> Fault:
        """Read ``POINT:ACTION[:NTH]``; raises UsageError."""
        point, _, rest = text.strip().partition(":")
        action, _, nth = rest.partition(":")
        if point not in POINTS or action not in ACTIONS or (nth and not nth.isdigit()):
            raise UsageError(
                f"fault {text!r}: expected POINT:ACTION[:NTH] with a point of {', '.join(POINTS)}"
                f" and an action of {', '.join(ACTIONS)}"
            )
        return cls(point, action, int(nth or 1))


def signal_self(number: int) -> None:
    """The real action: nothing after it runs (SIGKILL), or not before SIGCONT (SIGSTOP)."""
    os.kill(os.getpid(), number)


class FaultPoints:
    """Counts arrivals and acts on those that were asked for."""

    def __init__(self, faults: Iterable[Fault] = (), act: Callable[[int], None] = signal_self) -> None:
        self._faults: dict[str, list[Fault]] = {}
        for fault in faults:
            self._faults.setdefault(fault.point, []).append(fault)
        self._arrivals = dict.fromkeys(self._faults, 0)
        self._act = act

    @classmethod
    def parse(cls, text: str, act: Callable[[int], None] = signal_self) -> FaultPoints:
        """Raises UsageError for anything but a comma list of faults; empty text means none."""
        return cls([Fault.parse(piece) for piece in text.split(",") if piece.strip()], act)

    def reach(self, point: str) -> None:
        """The process is at `point` now."""
        faults = self._faults.get(point)
        if faults is None:
            return
        self._arrivals[point] += 1
        for fault in faults:
            if fault.nth == self._arrivals[point]:
                self._act(ACTIONS[fault.action])
