"""Keeps processes running: starts, watches, restarts and ends them. All of it in one thread, the main one."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from stream.errors import BrokerError
from stream.metrics.base import Metrics
from stream.processes import Identity
from stream.supervisor.process import Process, Seen
from stream.supervisor.restart import Life, RestartPolicy
from stream.supervisor.runtime import ProcessEntry

log = logging.getLogger(__name__)

POLL_S: Final = 0.1
STARTING_GRACE_S: Final = 5.0
#: A phase that lasts is told again so often.
TELL_AGAIN_S: Final = 10.0


@dataclass(slots=True)
class Unit:
    """One process over all its runs."""

    process: Process
    life: Life = field(default_factory=Life)
    identity: Identity | None = None
    metrics_url: str | None = None
    #: What it does until it runs, and since when by the supervisor's clock.
    phase: str | None = None
    phase_since_s: float = 0.0
    phase_told_s: float = 0.0

    def entry(self) -> ProcessEntry | None:
        """For runtime.json; None: it was never started."""
        if self.identity is None:
            return None
        name, life = self.process.name, self.life
        return ProcessEntry(
            self.process.role,
            name,
            self.identity.pid,
            self.identity.started,
            life.state,
            reason=life.reason,
            phase=self.phase if life.state == "starting" else None,
            birth=self.identity.birth,
        )

    def is_doing(self, phase: str | None, now_s: float) -> str | None:
        """Note what it does; a line to tell where that is new, or has lasted."""
        if phase != self.phase:
            self.phase, self.phase_since_s, self.phase_told_s = phase, now_s, now_s
            return f"{self.process.name}: {phase}" if phase else None
        if phase is None or now_s - self.phase_told_s < TELL_AGAIN_S:
            return None
        self.phase_told_s = now_s
        return f"{self.process.name}: still {phase}, {now_s - self.phase_since_s:.0f} s so far"


class Supervisor:
    """`changed` is called after each step, to write down what is so now."""

    def __init__(
        self,
        metrics: Metrics,
        changed: Callable[[Sequence[Unit]], None],
        *,
        policy: RestartPolicy | None = None,
        clock_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._metrics = metrics
        self._changed = changed
        self._policy = policy or RestartPolicy()
        self._clock_s = clock_s
        self._sleep = sleep
        self.units: list[Unit] = []

    def add(self, processes: Sequence[Process]) -> None:
        """To be started at the next step."""
        self.units.extend(Unit(process) for process in processes)

    def run_until(self, done: Callable[[], bool]) -> None:
        """Step until `done` says so. KeyboardInterrupt passes."""
        while not done():
            self.step()
            self._sleep(POLL_S)

    def step(self) -> None:
        """Look at each process once and do what is due."""
        for unit in self.units:
            if unit.life.is_due(self._clock_s()):
                self._launch(unit)
                # Written at once: what is not written down, a next start cannot end.
                self._changed(self.units)
            elif unit.life.state not in {"restarting", "failed"}:
                self._look(unit)
        self._changed(self.units)

    def all_running(self) -> bool:
        return bool(self.units) and all(unit.life.state == "running" for unit in self.units)

    def failed(self) -> list[Unit]:
        return [unit for unit in self.units if unit.life.state == "failed"]

    def end(self, roles: Callable[[str], bool], grace_s: float) -> None:
        """Ask these to end, wait at most `grace_s` for them all, kill what is left, and forget them.

        What never came to run has nothing to finish, and may be deaf while it loads a model: it gets less.
        """
        ending = [unit for unit in self.units if roles(unit.process.role)]
        begun_s = self._clock_s()
        grace_of = [(unit, grace_s if unit.life.runs else min(grace_s, STARTING_GRACE_S)) for unit in ending]
        for unit in ending:
            if unit.identity is not None and unit.life.state != "failed":
                unit.life = unit.life.said("draining", begun_s)
            unit.process.terminate()
        self._changed(self.units)
        while any(_lives(unit) and self._clock_s() - begun_s < grace for unit, grace in grace_of):
            self._sleep(POLL_S)
        self.kill(roles, "it did not end in time")

    def kill(self, roles: Callable[[str], bool] = bool, why: str = "all ends now") -> None:
        """End these (all, by default) at once, with their process groups, and forget them.

        One that cannot be ended stays known, and its error is raised when all others have been ended.
        """
        first: Exception | None = None
        for unit in [unit for unit in self.units if roles(unit.process.role)]:
            try:
                self._kill(unit, why)
            except Exception as error:
                log.exception("%s cannot be ended", unit.process.name)
                first = first or error
        self._changed(self.units)
        if first is not None:
            raise first

    def _kill(self, unit: Unit, why: str) -> None:
        try:
            if _lives(unit):
                log.warning("%s is killed: %s", unit.process.name, why)
        finally:
            unit.process.kill()
        self.units.remove(unit)

    def _launch(self, unit: Unit) -> None:
        try:
            unit.identity = unit.process.launch()
        except (BrokerError, OSError) as error:
            self._cannot_start(unit, error)
            return
        unit.life = unit.life.started(self._clock_s())
        unit.metrics_url = None
        unit.phase = None
        if unit.life.deaths_in_a_row:
            self._metrics.count("headrace_restarts_total", role=unit.process.role)
        log.info("%s started (pid %d)", unit.process.name, unit.identity.pid)

    def _cannot_start(self, unit: Unit, error: Exception) -> None:
        if unit.life.has_run:
            self._died(unit, Seen(1, reason=str(error)))
        else:
            unit.life = unit.life.gave_up(str(error))
            log.error("%s cannot be started: %s", unit.process.name, error)

    def _look(self, unit: Unit) -> None:
        seen = unit.process.look()
        if seen.exit_code is not None:
            self._died(unit, seen)
            return
        if seen.state != unit.life.state:
            log.info("%s is %s%s", unit.process.name, seen.state, self._after(unit, seen))
        unit.life = unit.life.said(seen.state, self._clock_s())
        unit.metrics_url = seen.metrics_url
        if line := unit.is_doing(seen.phase if seen.state == "starting" else None, self._clock_s()):
            log.info(line)
        if unit.life.is_overdue(self._clock_s(), self._policy):
            log.error("%s does not come up within %.0f s", unit.process.name, self._policy.start_timeout_s)
            unit.process.kill()

    def _after(self, unit: Unit, seen: Seen) -> str:
        """How long its start took, where that is over."""
        if seen.state != "running" or unit.life.state != "starting":
            return ""
        return f" after {self._clock_s() - unit.life.started_at_s:.1f} s"

    def _died(self, unit: Unit, seen: Seen) -> None:
        assert seen.exit_code is not None
        unit.metrics_url = None
        unit.life = unit.life.died(
            seen.exit_code, seen.reason, self._clock_s(), self._policy, lasting=seen.lasting
        )
        if unit.life.state == "failed":
            log.error("%s failed and is not started again: %s", unit.process.name, unit.life.reason)
            return
        wait_s = max(0.0, unit.life.start_at_s - self._clock_s())
        log.warning("%s: %s; starting it again in %.1f s", unit.process.name, unit.life.reason, wait_s)


def _lives(unit: Unit) -> bool:
    return unit.identity is not None and unit.process.look().exit_code is None
