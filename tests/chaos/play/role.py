"""A slot of a role: the process that runs it now, and how to start the next one."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from stream.fault_points import VARIABLE
from stream.processes import Child
from tests.walks import is_stopped

POLL_S: Final = 0.05
#: Until a process listens to SIGTERM.
BIRTH_TIMEOUT_S: Final = 60.0
#: A SIGKILL that came neither from us nor from a fault point: a poisonous record's.
ITSELF: Final = "itself"
#: Exit code of a role that may be started again.
LOST_MEMBER: Final = 1


class Role:
    """Started from the main thread only; `kill` may be called from any (the proxy's, above all)."""

    def __init__(self, name: str, transactional_id: str, arguments: Sequence[str], log_file: Path) -> None:
        self.name = name
        self.transactional_id = transactional_id
        self.arguments = tuple(arguments)
        self.log_file = log_file
        #: How each process of this slot ended, oldest first; negative: the signal.
        self.endings: list[int] = []
        #: Fault points (as in HEADRACE_FAULT_POINTS) of the processes to come, one for each.
        self.fault_points: deque[str] = deque()
        #: Fault points at which a process of this slot has ended by itself; ITSELF where it had none.
        self.ended_at: list[str] = []
        self._faults = ""
        self._signalled = False
        self._child: Child | None = None

    def start(self) -> None:
        """A new process, with the next of `fault_points`."""
        if self.alive:
            raise RuntimeError(f"{self.name} still runs")
        self._faults = self.fault_points.popleft() if self.fault_points else ""
        self._signalled = False
        self._child = self._spawn()

    def duel(self, timeout_s: float) -> int | None:
        """Start a twin for the same slot; one of the two must end: its exit code, or None when both live on.

        One that ends with LOST_MEMBER is started again, as its supervisor would: the older, in the middle of a join of
        its own, may take the instance id back for a moment, until it meets the twin's newer epoch.
        """
        if self._child is None:
            raise RuntimeError(f"{self.name} does not run")
        # Twins have no fault points: one that stopped itself later would have nobody to wake it.
        first, older, self._faults = self._child, self._faults, ""
        fighters = [first, self._spawn()]
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            for place, child in enumerate(fighters):
                code = child.exit_code()
                if code == LOST_MEMBER:
                    fighters[place] = self._spawn()
                elif code is not None:
                    self._child = fighters[1 - place]
                    self._faults = older if self._child is first else ""
                    return code
            time.sleep(POLL_S)
        self._child = fighters[0]
        self._faults = older if self._child is first else ""
        fighters[1].kill()
        return None

    def _spawn(self) -> Child:
        environment = {**os.environ, VARIABLE: self._faults}
        return Child.spawn([sys.executable, "-m", *self.arguments], self.log_file, environment)

    @property
    def kind(self) -> str:
        """`worker`, `dispatcher`."""
        return self.name.partition("-")[0]

    @property
    def alive(self) -> bool:
        """Whether a process of this slot runs; notes how the last one ended."""
        if self._child is None:
            return False
        code = self._child.exit_code()
        if code is None:
            return True
        self.endings.append(code)
        if code == -signal.SIGKILL and not self._signalled:
            self.ended_at.append(self._faults or ITSELF)
        self._child = None
        return False

    @property
    def pid(self) -> int | None:
        """Of the process that runs now."""
        return self._child.pid if self.alive and self._child is not None else None

    @property
    def frozen(self) -> bool:
        """Whether its process is stopped by a signal (its own at a fault point, or ours)."""
        child = self._child
        return child is not None and self.alive and is_stopped(child.pid)

    def kill(self) -> None:
        """SIGKILL the process alone, at once; nothing happens to a dead one."""
        self._signalled = True
        self._signal(signal.SIGKILL)

    def freeze(self) -> None:
        """SIGSTOP: a stall of any length."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def ask_to_stop(self) -> None:
        """SIGTERM: drain, commit, leave. A newborn is given the time to hear it: before, it ends as any program does."""
        deadline = time.monotonic() + BIRTH_TIMEOUT_S
        while (pid := self.pid) is not None and not _catches(pid, signal.SIGTERM):
            if time.monotonic() > deadline:
                break
            time.sleep(POLL_S)
        self._signal(signal.SIGTERM)

    def wait(self, timeout_s: float) -> bool:
        """Whether it ended within `timeout_s`."""
        deadline = time.monotonic() + timeout_s
        while self.alive:
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL_S)
        return True

    def end(self) -> None:
        """Whatever it takes, its children included."""
        if self._child is not None:
            self._signalled = True
            self.thaw()
            self._child.kill()
            _ = self.alive

    def _signal(self, number: signal.Signals) -> None:
        child = self._child
        if child is not None:
            with suppress(ProcessLookupError):
                os.kill(child.pid, number)


def _catches(pid: int, number: signal.Signals) -> bool:
    """Whether the process has a handler for this signal; True where the system does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)
