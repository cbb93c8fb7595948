"""Walks over processes as tests make them: what is dead, or hides from us, is passed over, whoever started it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil


def children_called(word: str, pid: int | None = None) -> list[psutil.Process]:
    """The living children, theirs too, of a process (None: of this one) that have `word` in name or command line."""
    return [child for child in psutil.Process(pid).children(recursive=True) if word in _words(child)]


def _words(process: psutil.Process) -> str:
    try:
        return " ".join([process.name(), *process.cmdline()])
    except psutil.Error:  # gone meanwhile, a zombie, or not to be looked at
        return ""


def is_stopped(pid: int) -> bool:
    """Whether a signal holds it."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    except psutil.Error:
        return False


@contextmanager
def zombie() -> Iterator[int]:
    """The pid of a process that has ended, and that nobody has asked about: leader of a group of its own."""
    with subprocess.Popen([sys.executable, "-c", ""], process_group=0) as process:
        deadline = time.monotonic() + 60
        while psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        yield process.pid
