"""What the supervisor runs: a role, or the embedded broker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from stream.processes import Child, Identity
from stream.role.report import Report, RoleState, read_report, report_file

#: Enough of a log's end for its last line.
LOG_TAIL_BYTES: Final = 4096
REASON_CHARS_MAX: Final = 300
#: What a process does before it says anything.
LOADING: Final = "loading its code"


class Seen(NamedTuple):
    """One look at a process."""

    #: None while it lives; negative: the signal that ended it.
    exit_code: int | None
    state: RoleState = "starting"
    metrics_url: str | None = None
    #: Why it ended, as far as it said.
    reason: str | None = None
    #: What it does until it runs.
    phase: str | None = None
    #: It said that the next start would end in the same way.
    lasting: bool = False


class Process(Protocol):
    """Something that is started, looked at and ended. No call blocks for more than a second or two."""

    @property
    def role(self) -> str: ...
    @property
    def name(self) -> str: ...
    def launch(self) -> Identity:
        """Start it (again). BrokerError or OSError: it cannot be started."""

    def look(self) -> Seen: ...
    def terminate(self) -> None:
        """Ask it to end in its own time; fine when it is dead or was never started."""

    def kill(self) -> None:
        """End it and its process group; fine when it is dead or was never started."""


class RoleProcess:
    """A dispatcher or worker: one command, which reports its own state in a file."""

    def __init__(
        self, role: str, name: str, command: Sequence[str], state_dir: Path, environment: Mapping[str, str]
    ) -> None:
        self.role = role
        self.name = name
        self._command = list(command)
        self._state_dir = state_dir
        self._environment = environment
        self._log_file = state_dir / "logs" / f"{name}.log"
        self._child: Child | None = None

    def launch(self) -> Identity:
        report_file(self._state_dir, self.name).unlink(missing_ok=True)
        self._child = Child.spawn(self._command, self._log_file, self._environment)
        return self._child.identity

    def look(self) -> Seen:
        if self._child is None:
            return Seen(None)
        # The exit code first: what a process writes last it writes before it ends.
        code = self._child.exit_code()
        report = read_report(self._state_dir, self.name)
        if report is not None and report.pid != self._child.pid:
            report = None
        if code is not None:
            return self._ended(code, report)
        if report is None:
            return Seen(None, phase=LOADING)
        return Seen(None, report.state, report.metrics_url, phase=report.phase)

    def _ended(self, code: int, report: Report | None) -> Seen:
        said = report.reason if report is not None else None
        # A signal comes from outside: what the log says last has nothing to do with it.
        reason = said or (last_line(self._log_file) if code > 0 else None)
        return Seen(code, reason=reason, lasting=report is not None and report.lasting)

    def terminate(self) -> None:
        if self._child is not None:
            self._child.terminate()

    def kill(self) -> None:
        if self._child is not None:
            self._child.kill()
        report_file(self._state_dir, self.name).unlink(missing_ok=True)


def last_line(log_file: Path) -> str | None:
    """The last line of a log that says something; None where it cannot be read: somebody may have rotated it away."""
    try:
        with log_file.open("rb") as log:
            log.seek(max(0, log.seek(0, 2) - LOG_TAIL_BYTES))
            lines = [line.strip() for line in log.read().decode(errors="replace").splitlines()]
    except OSError:
        return None
    return next((line[:REASON_CHARS_MAX] for line in reversed(lines) if line), None)
