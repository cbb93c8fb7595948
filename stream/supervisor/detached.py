"""`headrace up` in the background: started, watched until it is ready, and from then on by itself."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stream.errors import StreamError, WaitedTooLong
from stream.supervisor.runtime import Runtime, RuntimeFile
from workers.private_files import make_private_folder, open_private

POLL_S: Final = 0.1
#: SIGTERM during the start: it ends what it has started.
END_TIMEOUT_S: Final = 90.0
REASON_LINES_MAX: Final = 20
#: How the command line begins its last words.
LAST_WORDS: Final = "headrace: "


class StartFailed(StreamError):
    """It ended before it was ready, with this exit code."""

    def __init__(self, reason: str, exit_code: int) -> None:
        super().__init__(reason)
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True)
class Detached:
    """A `headrace up` that outlives us."""

    process: subprocess.Popen[bytes]
    state_dir: Path
    log_file: Path
    #: Where its own lines begin in the log.
    log_from: int

    def await_ready(self, timeout_s: float, told: Callable[[Runtime | None], None]) -> Runtime:
        """Its runtime.json once it is ready. StartFailed with its last words; WaitedTooLong, and it goes on."""
        deadline = time.monotonic() + timeout_s
        while True:
            code = self.process.poll()
            runtime = self._runtime()
            if runtime is not None and runtime.supervisor is not None and runtime.supervisor.ready:
                return runtime
            if code is not None:
                raise StartFailed(f"{self._last_words()}\n(log: {self.log_file})", code or 1)
            if time.monotonic() > deadline:
                raise WaitedTooLong(f"not ready within {timeout_s:g} s, it goes on (log: {self.log_file})")
            told(runtime)
            time.sleep(POLL_S)

    def end(self) -> None:
        """For whoever does not want it any more while it starts."""
        self.process.terminate()
        try:
            self.process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _runtime(self) -> Runtime | None:
        """Its own, not that of an earlier start."""
        runtime = RuntimeFile(self.state_dir).read()
        if runtime is None or runtime.supervisor is None or runtime.supervisor.pid != self.process.pid:
            return None
        return runtime

    def _last_words(self) -> str:
        with self.log_file.open("rb") as log:
            log.seek(self.log_from)
            return last_words(log.read().decode(errors="replace"))


def last_words(log: str) -> str:
    """From the line that the command line ends with; where there is none, the last lines."""
    lines = log.splitlines()
    place = next((at for at in reversed(range(len(lines))) if lines[at].startswith(LAST_WORDS)), None)
    if place is None:
        return "\n".join(lines[-REASON_LINES_MAX:]) or "it ended without a word"
    return "\n".join(lines[place:]).removeprefix(LAST_WORDS)


def start_detached(config: Path | None, state_dir: Path) -> Detached:
    """A session of its own: neither Ctrl-C nor the end of the terminal reaches it."""
    log_file = state_dir / "logs" / "up.log"
    make_private_folder(log_file.parent)
    named = ["-c", str(config)] if config is not None else []
    command = [sys.executable, "-P", "-m", "stream", "up", *named, "--state-dir", str(state_dir)]
    log_from = log_file.stat().st_size if log_file.exists() else 0
    with open(log_file, "ab", opener=open_private) as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )
    return Detached(process, state_dir, log_file, log_from)
