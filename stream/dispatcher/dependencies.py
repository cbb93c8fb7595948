"""What surrounds a dispatcher: clients, clock, metrics. Tests hand in their own; production has one set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from schemas.registry import SchemaSource
from stream.dispatcher.limits import DispatcherLimits
from stream.log.base import Log, nowhere
from stream.metrics.base import Metrics, NoMetrics
from stream.role.report import RoleState


def never() -> bool:
    """Nobody asks it to stop."""
    return False


@dataclass(frozen=True, slots=True)
class DispatcherDependencies:
    """The seam of `run_dispatcher`."""

    log: Log
    #: Monotonic seconds.
    clock_s: Callable[[], float]
    #: ms since the epoch.
    now_ms: Callable[[], int]
    registry: SchemaSource | None = None
    metrics: Metrics = field(default_factory=NoMetrics)
    #: Called at the named points of a transaction.
    reach: Callable[[str], None] = nowhere
    #: True once the process was asked to end.
    stopped: Callable[[], bool] = never
    #: Told each state of the process.
    report: Callable[[RoleState], None] = nowhere
    rules: DispatcherLimits = field(default_factory=DispatcherLimits)
