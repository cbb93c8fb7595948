"""`up` as a process of the test: start it, read runtime.json, wait, end it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stream.processes import started_of

REPOSITORY = Path(__file__).parents[3]


def eventually(true: Callable[[], bool], timeout_s: float = 120) -> None:
    deadline = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


class Installation:
    """One `up` over one state directory."""

    def __init__(self, state_dir: Path, broker: str, *roles: str) -> None:
        self.state_dir = state_dir
        state_dir.mkdir(exist_ok=True)
        self.errors = state_dir / "up.log"
        command = [sys.executable, "-m", "tests.stream.supervisor.up_script", str(state_dir), broker, *roles]
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=REPOSITORY
            )

    def ready(self) -> str:
        """The one line on stdout; fails when it ends without one."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.errors.read_text()
        return line.rstrip("\n")

    def runtime(self) -> dict[str, Any]:
        file = self.state_dir / "runtime.json"
        found = json.loads(file.read_text()) if file.exists() else {"processes": []}
        assert isinstance(found, dict)
        return found

    def entry(self, name: str) -> dict[str, Any]:
        return next((entry for entry in self.runtime()["processes"] if entry["name"] == name), {})

    def pid(self, name: str) -> int:
        return int(self.entry(name)["pid"])

    def kill(self, name: str) -> int:
        """SIGKILL one process; returns its pid."""
        pid = self.pid(name)
        os.kill(pid, signal.SIGKILL)
        return pid

    def await_state(self, name: str, state: str, other_than: int = 0) -> None:
        def reached() -> bool:
            entry = self.entry(name)  # once: the next look may find another process
            return entry.get("state") == state and entry["pid"] != other_than

        eventually(reached)

    def stop(self, number: signal.Signals = signal.SIGTERM, timeout_s: float = 120) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout_s)

    def end(self) -> None:
        """Whatever happened: nothing is left."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()


def gone(pid: int) -> bool:
    return started_of(pid) is None
