"""Processes that a test run has started and that outlive it, orphans included."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from typing import Final

import psutil

#: In the environment of everything that a run starts.
VARIABLE: Final = "HEADRACE_TEST_RUN"
#: Python's own, which ends with us.
TRACKER: Final = "multiprocessing.resource_tracker"
END_S: Final = 30.0


def mark_this_run() -> str:
    """From now on everything that is started carries the mark."""
    mark = uuid.uuid4().hex
    os.environ[VARIABLE] = mark
    return mark


def left_behind(mark: str, patience_s: float = END_S) -> list[str]:
    """What still lives after some patience with ends that are under way, as `pid: command line`."""
    _, alive = psutil.wait_procs(list(_marked(mark)), timeout=patience_s)
    return [f"{process.pid}: {' '.join(_words(process))[:200]}" for process in alive]


def _marked(mark: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        if process.pid != os.getpid() and _carries(process, mark):
            yield process


def _carries(process: psutil.Process, mark: str) -> bool:
    try:
        return process.environ().get(VARIABLE) == mark and TRACKER not in " ".join(_words(process))
    except (psutil.Error, OSError):
        return False


def _words(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return ["gone"]
