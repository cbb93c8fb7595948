"""One living supervisor a state directory, and the last sign of life of the one before."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from stream.errors import UsageError
from workers.private_files import make_private_folder, open_private, restrict_folder


class StateDirLock:
    """Held by the living supervisor; the kernel frees it with the process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        #: When the predecessor last touched it, epoch seconds; 0: there was none.
        self.predecessor_alive_s = path.stat().st_mtime if path.exists() else 0.0

    def touch(self) -> None:
        """A sign of life: whoever starts next knows how long we were there."""
        os.utime(self._path)


def holder_of(state_dir: Path) -> int | None:
    """The pid of the `headrace up` that holds the lock; None: nobody does."""
    try:
        with (state_dir / "lock").open(encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                pid = lock.read().strip()
                return int(pid) if pid.isdigit() else None
    except OSError:
        return None
    return None


@contextmanager
def state_dir_lock(state_dir: Path) -> Iterator[StateDirLock]:
    """Held while the block runs. UsageError when another supervisor lives there, or nothing can be written there."""
    held, opened = _open(state_dir)
    with opened as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise UsageError(
                f"{state_dir} is in use by another `headrace up` (pid {lock.read().strip() or 'unknown'}): "
                "stop it, or choose another --state-dir"
            ) from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield held


def _open(state_dir: Path) -> tuple[StateDirLock, TextIO]:
    path = state_dir / "lock"
    try:
        make_private_folder(state_dir)
        if path.exists() or not any(state_dir.iterdir()):  # else it is not ours alone
            restrict_folder(state_dir)
        held = StateDirLock(path)
        return held, open(path, "a+", encoding="utf-8", opener=open_private)
    except OSError as error:
        raise UsageError(
            f"the state directory {state_dir} cannot be used ({error.strerror}): choose another --state-dir"
        ) from error
