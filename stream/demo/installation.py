"""A `headrace up` of the demo's own, in a child process: start, find processes, kill one, stop."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from stream.errors import StreamError, WaitedTooLong
from stream.processes import Child
from stream.supervisor.runtime import Runtime, RuntimeFile

#: The engine loads, and the first time the chat model is converted too.
READY_TIMEOUT_S: Final = 300.0
#: Running calls end within the supervisor's grace, then the broker.
STOP_TIMEOUT_S: Final = 90.0
POLL_S: Final = 0.1


def unheard(_runtime: Runtime | None) -> None:
    """Nobody wants to know."""


class DemoInstallation:
    """Everything of `headrace up` over one state directory."""

    def __init__(self, config: Path, state_dir: Path) -> None:
        self._state_dir = state_dir
        self.log_file = state_dir / "up.log"
        command = [
            sys.executable,
            "-P",
            "-m",
            "stream",
            "up",
            "-c",
            str(config),
            "--state-dir",
            str(state_dir),
        ]
        # A group of its own: Ctrl-C is the demo's to pass on, once. Tied to us: a demo that is killed ends it too.
        self._up = Child.spawn(command, self.log_file, os.environ)

    def wait_ready(
        self, told: Callable[[Runtime | None], None] = unheard, timeout_s: float = READY_TIMEOUT_S
    ) -> str:
        """Wait for records to be able to flow, and tell how it goes; the bootstrap servers.

        StreamError with the log's end if it fails.
        """
        deadline = time.monotonic() + timeout_s
        while not self._says_ready():
            if (code := self._up.exit_code()) is not None:
                raise StreamError(f"headrace up ended with status {code}:\n{self._log_end()}")
            if time.monotonic() > deadline:
                raise WaitedTooLong(f"not ready within {timeout_s:.0f} s (log: {self.log_file})")
            told(RuntimeFile(self._state_dir).read())
            time.sleep(POLL_S)
        return str(self._runtime()["bootstrap_servers"])

    def kill(self, role: str) -> str:
        """SIGKILL the first running process of `role`; its name and pid in words."""
        for process in self._runtime()["processes"]:
            if process["role"] == role and process["state"] == "running":
                os.kill(process["pid"], signal.SIGKILL)
                return f"{process['name']} (pid {process['pid']})"
        raise StreamError(f"no running {role} to kill (log: {self.log_file})")

    def stop(self) -> None:
        """SIGTERM, and wait for the clean end; SIGKILL after `STOP_TIMEOUT_S`."""
        self._up.terminate()
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while self._up.exit_code() is None and time.monotonic() < deadline:
            time.sleep(POLL_S)
        self._up.kill()

    def _says_ready(self) -> bool:
        return any(line.startswith("ready ") for line in self._log().splitlines())

    def _runtime(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads((self._state_dir / "runtime.json").read_text())
        return document

    def _log(self) -> str:
        return self.log_file.read_text(encoding="utf-8", errors="replace")

    def _log_end(self) -> str:
        return "\n".join(self._log().splitlines()[-20:])
