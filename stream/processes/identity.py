"""Which process is meant: a pid alone is not enough, since pids come round again.

Nor is its start time by the clock: that counts from a boot time that moves whenever the clock is set (seen: 5 s within
nine minutes). Where the kernel tells the boot and the tick of a start, these count.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

#: Where no birth is known. The boot time that start times are counted from has whole seconds and moves with clock corrections.
STARTED_TOLERANCE_S = 2.0


@dataclass(frozen=True, slots=True)
class Identity:
    """A process by pid, start time (epoch seconds), and birth (`birth_of`), where it is known."""

    pid: int
    started: float
    birth: str | None = None

    @classmethod
    def of_entry(cls, entry: Mapping[str, Any]) -> Identity:
        """As runtime.json has it."""
        return cls(entry["pid"], entry["started"], entry.get("birth"))

    def lives(self) -> bool:
        """Whether this very process still runs (a zombie does not)."""
        started = started_of(self.pid)
        return started is not None and self.is_same(Identity(self.pid, started, birth_of(self.pid)))

    def is_same(self, other: Identity) -> bool:
        """Whether both are one process."""
        if self.pid != other.pid:
            return False
        if self.birth is not None and other.birth is not None:
            return self.birth == other.birth
        return abs(self.started - other.started) <= STARTED_TOLERANCE_S


def identity_of(pid: int) -> Identity:
    """Of a living process; started 0: there is none."""
    return Identity(pid, started_of(pid) or 0.0, birth_of(pid))


def birth_of(pid: int) -> str | None:
    """The boot and the clock tick of its start, as the kernel counts them (proc(5), `starttime`); None: not told."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        after_name = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return f"{boot}/{int(after_name[19])}"


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
