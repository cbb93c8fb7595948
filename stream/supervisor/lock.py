"""One living supervisor a state directory."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stream.errors import UsageError


@contextmanager
def state_dir_lock(state_dir: Path) -> Iterator[None]:
    """Held while the block runs; the kernel frees it with the process. UsageError when another one lives there."""
    state_dir.mkdir(parents=True, exist_ok=True)
    with (state_dir / "lock").open("a+", encoding="utf-8") as lock:
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
        yield
