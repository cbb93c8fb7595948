"""Answers in the order of the input: copied from where they came in, as soon as the next one is there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from stream.run_batch.answers import Answers
from stream.run_batch.kept import open_kept
from stream.run_batch.state import Sizes

#: Rows copied at one go: between two looks at what else is to be done.
ROWS_MAX: Final = 20_000


class InOrder:
    """Opened at a state; `errors` may be the same file as `output`. `render` makes a line of what stands in `answers`."""

    def __init__(
        self,
        answers: Answers,
        output: Path,
        errors: Path,
        begin: tuple[int, Sizes],
        render: Callable[[bytes], bytes] = bytes,
    ) -> None:
        self._answers = answers
        self._render = render
        #: Rows written.
        self.rows, sizes = begin
        self._files = [open_kept(output, sizes.answers)]
        self._files.append(self._files[0] if errors == output else open_kept(errors, sizes.errors))

    def advance(self, rows: int) -> bool:
        """Copy what is next, of an input of `rows`; whether there may be more at once."""
        self._answers.flush()
        for _ in range(ROWS_MAX):
            found = self._answers.at(self.rows) if self.rows < rows else None
            if found is None:
                return False
            failed, line = found
            self._files[failed].write(self._render(line))
            self.rows += 1
        return True

    def sync(self) -> Sizes:
        """Make it last, and tell how much it is."""
        for file in self._files:
            file.flush()
            os.fsync(file.fileno())
        return Sizes(self._files[0].tell(), self._files[1].tell())

    def close(self) -> None:
        for file in self._files:
            file.close()
