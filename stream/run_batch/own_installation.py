"""A `headrace up` of the batch's own, in a child process that ends with us."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from stream.client.eta import duration
from stream.errors import StreamError, WaitedTooLong
from stream.processes import Child

#: A model may have to be downloaded first.
READY_S_MAX: Final = 3_600.0
#: Running calls end within the supervisor's grace, then the broker.
STOP_S_MAX: Final = 90.0
POLL_S: Final = 0.1
UP_LOG: Final = "up.log"
TELL_EVERY_S: Final = 10.0
_LOG_LINES: Final = 20
_LOG_HEAD: Final = re.compile(r"^\d{4}-\d\d-\d\d [\d:,]+ [A-Z]+ [\w.]+: ")


class OwnInstallation:
    """Everything of `headrace up` over one state directory. Main thread only."""

    def __init__(self, config: Path | None, state_dir: Path) -> None:
        self.log_file = state_dir / UP_LOG
        self._begin = self.log_file.stat().st_size if self.log_file.exists() else 0
        chosen = [] if config is None else ["-c", str(config)]
        # -P: a folder named `stream` where somebody stands must not be taken for ours.
        command = [sys.executable, "-P", "-m", "stream", "up", *chosen, "--state-dir", str(state_dir)]
        # A group of its own: Ctrl-C is ours to pass on, once.
        self._up = Child.spawn(command, self.log_file, {**os.environ, "PYTHONUNBUFFERED": "1"})

    def wait_ready(self, say: Callable[[str], None], wished: Callable[[], bool]) -> None:
        """Until records flow; StreamError with the log's end where that fails, KeyboardInterrupt at a wish to stop."""
        begin_s = told_s = time.monotonic()
        while not self._says_ready():
            self.check()
            now_s = time.monotonic()
            if wished():
                raise KeyboardInterrupt
            if now_s - begin_s > READY_S_MAX:
                raise WaitedTooLong(f"not ready within {READY_S_MAX:.0f} s (log: {self.log_file})")
            if now_s - told_s >= TELL_EVERY_S:
                told_s = now_s
                say(f"starting for {duration(now_s - begin_s)}: {self._doing()}")
            time.sleep(POLL_S)

    def check(self) -> None:
        """StreamError where it has ended by itself."""
        if (code := self._up.exit_code()) is not None:
            raise StreamError(
                f"the installation of this batch ended with status {code}; the same command goes on. "
                f"Its last words ({self.log_file}):\n{self._last_words()}"
            )

    def stop(self) -> None:
        """SIGTERM, and wait for the clean end; SIGKILL after `STOP_S_MAX`."""
        self._up.terminate()
        deadline_s = time.monotonic() + STOP_S_MAX
        while self._up.exit_code() is None and time.monotonic() < deadline_s:
            time.sleep(POLL_S)
        self._up.kill()

    def _says_ready(self) -> bool:
        return any(line.startswith("ready ") for line in self._log())

    def _doing(self) -> str:
        """Its last words, without the time and the place that a log has."""
        log = self._log()
        return _LOG_HEAD.sub("", log[-1]) if log else "nothing is told yet"

    def _last_words(self) -> str:
        return "\n".join(self._log()[-_LOG_LINES:])

    def _log(self) -> list[str]:
        with self.log_file.open("rb") as file:
            file.seek(self._begin)
            return file.read().decode(errors="replace").splitlines()
