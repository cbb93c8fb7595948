"""Showing how a start goes: a line for each step, and on a terminal one that counts the seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from stream.supervisor.runtime import Runtime
from stream.supervisor.start_watch import StartWatch


@contextmanager
def start_lines(console: Console) -> Iterator[Callable[[Runtime | None], None]]:
    """What to call with each look at runtime.json."""
    watch = StartWatch(time.monotonic())
    with console.status("starting") as status:

        def told(runtime: Runtime | None) -> None:
            now_s = time.monotonic()
            for line in watch.look(runtime, now_s):
                console.print(line, highlight=False, soft_wrap=True)
            status.update(watch.going_on(runtime, now_s))

        yield told
