"""Which process is meant: a pid alone is not enough, since pids come round again."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass

import psutil

#: The boot time that start times are counted from has whole seconds and moves with clock corrections.
STARTED_TOLERANCE_S = 2.0


@dataclass(frozen=True, slots=True)
class Identity:
    """A process by pid and start time (epoch seconds)."""

    pid: int
    started: float

    def lives(self) -> bool:
        """Whether this very process still runs (a zombie does not)."""
        started = started_of(self.pid)
        return started is not None and abs(started - self.started) <= STARTED_TOLERANCE_S


def started_of(pid: int) -> float | None:
    """Start time (epoch seconds) of a living process; None: there is none, or only its zombie."""
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except (psutil.NoSuchProcess, psutil.AccessDenied):  # what hides from us was not started by us
        return None


def group_members(group: int) -> list[psutil.Process]:
    """The living processes of a process group, zombies left out."""
    return [process for process in psutil.process_iter() if _in_group(process, group)]


def _in_group(process: psutil.Process, group: int) -> bool:
    try:
        return os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.Error):
        return False


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a whole group; one that is gone is fine."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return


def end_group(group: int, timeout_s: float) -> bool:
    """SIGKILL a group and wait until it is empty; False when `timeout_s` passed before."""
    deadline = time.monotonic() + timeout_s
    while group_members(group):
        signal_group(group, signal.SIGKILL)
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
