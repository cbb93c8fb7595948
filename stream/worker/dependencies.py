"""What surrounds a worker: log, engine, time, metrics. Tests hand in their own; production has one set.

The chaos suite's negative controls live here too: `stage_of` may drop the map or commit the highest offset seen, a
`log` of another kind may change ids, isolation or generations. Production code has no flag for any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from schemas.registry import SchemaSource
from stream.exactly_once.ledger import PartitionLedger
from stream.exactly_once.transaction import StageOf
from stream.log.base import Log, nowhere
from stream.metrics.base import Metrics, NoMetrics
from stream.role.report import RoleState
from stream.worker.limits import WorkerLimits
from workers.call import Call, Finished
from workers.journal import NoJournal, StartJournal


class EngineSide(Protocol):
    """What the Kafka thread needs of `workers.runner.Runner`."""

    def start(self, timeout_s: float, give_up: Callable[[], bool] = ...) -> None: ...
    def submit(self, calls: Sequence[Call]) -> None: ...
    def take(self) -> list[Finished]: ...
    def wait(self, timeout_s: float) -> bool: ...
    def cancel(self, ids: Sequence[str]) -> None: ...
    def check(self) -> None: ...
    def stop(self, grace_s: float) -> None: ...
    @property
    def running(self) -> int: ...
    @property
    def ahead(self) -> int: ...
    @property
    def outcomes(self) -> Mapping[str, int]: ...
    @property
    def repeats(self) -> int: ...
    @property
    def restarts(self) -> int: ...


def never() -> bool:
    """Nobody asks it to stop."""
    return False


def unsaid(_state: RoleState) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class WorkerDependencies:
    """The seam of `serve`."""

    log: Log
    runner: EngineSide
    #: Monotonic seconds.
    clock_s: Callable[[], float]
    #: ms since the epoch.
    now_ms: Callable[[], int]
    registry: SchemaSource | None = None
    metrics: Metrics = field(default_factory=NoMetrics)
    #: Called at the named points of a transaction, and when an answer became ready.
    reach: Callable[[str], None] = nowhere
    #: True once the process was asked to end.
    stopped: Callable[[], bool] = never
    #: Told each state of the process.
    report: Callable[[RoleState], None] = unsaid
    rules: WorkerLimits = field(default_factory=WorkerLimits)
    #: What this slot's processes have started, and what they knew of the record that ran alone.
    journal: StartJournal = field(default_factory=NoJournal)
    #: Makes a ledger's part of a transaction.
    stage_of: StageOf = PartitionLedger.stage
