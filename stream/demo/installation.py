"""A `headrace up` of the demo's own, in a child process: start, find processes, kill one, stop."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from stream.errors import StreamError, WaitedTooLong

#: The engine loads, and the first time the chat model is converted too.
READY_TIMEOUT_S: Final = 300.0
STOP_TIMEOUT_S: Final = 60.0
POLL_S: Final = 0.1


class DemoInstallation:
    """Everything of `headrace up` over one state directory."""

    def __init__(self, config: Path, state_dir: Path) -> None:
        self._state_dir = state_dir
        self.log_file = state_dir / "up.log"
        command = [sys.executable, "-m", "stream", "up", "-c", str(config), "--state-dir", str(state_dir)]
        with self.log_file.open("wb") as log:
            # A group of its own: Ctrl-C is the demo's to pass on, once.
            self._up = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)

    def wait_ready(self, timeout_s: float = READY_TIMEOUT_S) -> str:
        """Wait for records to be able to flow; the bootstrap servers. StreamError with the log's end if it fails."""
        deadline = time.monotonic() + timeout_s
        while not self._says_ready():
            if self._up.poll() is not None:
                raise StreamError(f"headrace up ended with status {self._up.returncode}:\n{self._log_end()}")
            if time.monotonic() > deadline:
                raise WaitedTooLong(f"not ready within {timeout_s:.0f} s (log: {self.log_file})")
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
        if self._up.poll() is None:
            self._up.terminate()
        try:
            self._up.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._up.kill()
            self._up.wait()

    def _says_ready(self) -> bool:
        return any(line.startswith("ready ") for line in self._log().splitlines())

    def _runtime(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads((self._state_dir / "runtime.json").read_text())
        return document

    def _log(self) -> str:
        return self.log_file.read_text(encoding="utf-8", errors="replace")

    def _log_end(self) -> str:
        return "\n".join(self._log().splitlines()[-20:])
