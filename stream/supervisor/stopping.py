"""Ending another process's `headrace up`, by what its runtime.json says of it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

from stream.errors import StreamError, WaitedTooLong
from stream.processes import Identity, identity_of
from stream.supervisor.lock import holder_of, state_dir_lock
from stream.supervisor.runtime import Runtime, RuntimeFile
from stream.supervisor.up import end_predecessor

POLL_S: Final = 0.1
Ended = Literal["nothing", "stopped", "leftovers"]


def stop_installation(state_dir: Path, timeout_s: float, told: Callable[[str], None]) -> Ended:
    """A clean stop where it lives; what a killed one left is ended; nothing where nothing is."""
    runtime = RuntimeFile(state_dir).read()
    supervisor = None if runtime is None else supervisor_of(runtime)
    if supervisor is None or not supervisor.lives():
        holder = holder_of(state_dir)  # it has just begun: the file does not name it yet
        supervisor = None if holder is None else identity_of(holder)
    if supervisor is not None:
        told(f"stopping pid {supervisor.pid}: what runs is finished and committed first")
        _ask(supervisor)
        _await_end(supervisor, timeout_s)
        return "stopped"
    if runtime is None or not runtime.processes:
        return "nothing"
    with state_dir_lock(state_dir) as lock:
        end_predecessor(runtime, lock)
        RuntimeFile(state_dir).write(Runtime(None))
    return "leftovers"


def supervisor_of(runtime: Runtime) -> Identity | None:
    """The process that runs it, living or not."""
    entry = runtime.supervisor
    return None if entry is None else Identity(entry.pid, entry.started, entry.birth)


def _ask(supervisor: Identity) -> None:
    try:
        os.kill(supervisor.pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    except PermissionError as refused:
        raise StreamError(f"pid {supervisor.pid} is another user's: stop it as that user") from refused


def _await_end(supervisor: Identity, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while supervisor.lives():
        if time.monotonic() > deadline:
            raise WaitedTooLong(
                f"pid {supervisor.pid} has not stopped within {timeout_s:g} s, it goes on stopping; "
                "a second `headrace down` ends it at once"
            )
        time.sleep(POLL_S)
