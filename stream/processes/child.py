"""A child process: leader of its own process group, tied to us, ended as a group."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from stream.errors import StreamError
from stream.processes import tether
from stream.processes.identity import Identity, end_group, identity_of, signal_group
from workers.private_files import make_private_folder, open_private

log = logging.getLogger(__name__)

#: A log longer than this is set aside as `<name>.1` when its process starts.
LOG_BYTES_MAX = 64 * 1024 * 1024
#: SIGKILL needs no cooperation; only a process stuck in the kernel outlives this.
GROUP_END_TIMEOUT_S = 10.0


class Child:
    """One run of a command. What it left in its group is killed as soon as its death is seen."""

    def __init__(self, process: subprocess.Popen[bytes], identity: Identity) -> None:
        self._process = process
        self.identity = identity

    @classmethod
    def spawn(cls, command: Sequence[str], log_file: Path, environment: Mapping[str, str]) -> Child:
        """Start `command` with its output appended to `log_file`.

        Main thread only: the kernel ends the child with the *thread* that made it, not with the process.
        """
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError(
                "start child processes from the main thread: they end with the thread that made them"
            )
        make_private_folder(log_file.parent)
        _set_aside(log_file)
        tied = [sys.executable, "-I", "-S", tether.__file__, str(os.getpid()), *command]
        with open(log_file, "ab", opener=open_private) as output:
            process = subprocess.Popen(
                tied,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=dict(environment),
                process_group=0,
            )
        return cls(process, identity_of(process.pid))

    @property
    def pid(self) -> int:
        return self.identity.pid

    def exit_code(self) -> int | None:
        """None while it runs; negative: the signal that ended it. The dead one's group is ended first."""
        if self._process.returncode is None and self._is_dead():
            self._end_group()
            self._process.wait()
        return self._process.returncode

    def _is_dead(self) -> bool:
        # WNOWAIT leaves the zombie, so its pid, which is the group's number too, cannot be given away meanwhile.
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def terminate(self) -> None:
        """Ask the leader to end (SIGTERM); it knows what its own children need."""
        if self.exit_code() is None:
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL the whole group. StreamError where something of it outlives that: the kernel holds it."""
        if self.exit_code() is None:
            signal_group(self.pid, signal.SIGKILL)
            try:
                self._process.wait(GROUP_END_TIMEOUT_S)
            except subprocess.TimeoutExpired as held:
                raise StreamError(f"process {self.pid} outlives SIGKILL") from held
        if not end_group(self.pid, GROUP_END_TIMEOUT_S):
            raise StreamError(f"something in process group {self.pid} outlives SIGKILL")

    def _end_group(self) -> None:
        if not end_group(self.pid, GROUP_END_TIMEOUT_S):
            log.error("process group %d outlives SIGKILL for %.0f s", self.pid, GROUP_END_TIMEOUT_S)


def _set_aside(log_file: Path) -> None:
    if log_file.exists() and log_file.stat().st_size > LOG_BYTES_MAX:
        log_file.replace(log_file.with_name(f"{log_file.name}.1"))
