"""What a person sees while a batch runs: a bar on a terminal, plain lines where there is none. All on stderr."""

from __future__ import annotations

from types import TracebackType
from typing import Final, Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from stream.client.progress import Progress

#: Between two plain lines.
PLAIN_EVERY_S: Final = 10.0


class Show(Protocol):
    """Told often, shows now and then."""

    def update(self, progress: Progress, now_s: float) -> None: ...
    def say(self, words: str) -> None:
        """Something that happened, beside the progress."""


class Shown:
    """A context: the bar is there while it lasts."""

    def __init__(self, console: Console, unit: str) -> None:
        self._console = console
        self._unit = unit
        self._bar: Bar | None = None
        self._told_s = float("-inf")
        self._last: str | None = None
        if console.is_terminal:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(bar_width=20),
                TextColumn("{task.fields[words]}"),
            )
            self._bar = Bar(*columns, console=console)
            self._task = self._bar.add_task(unit, words="")

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, progress: Progress, now_s: float) -> None:
        words = progress.words()
        if self._bar is not None:
            self._bar.update(self._task, total=progress.rows, completed=progress.done, words=words)
        elif words != self._last and (
            now_s - self._told_s >= PLAIN_EVERY_S or progress.done == progress.rows
        ):
            self._told_s, self._last = now_s, words
            self.say(f"{self._unit} {words}")

    def say(self, words: str) -> None:
        self._console.print(words, highlight=False, markup=False, soft_wrap=True)
