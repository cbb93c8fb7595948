"""CSV as RFC 4180 has it, and nothing guessed: a quote is `"`, two of them are one, nothing is a comment.

Python's reader, for DuckDB's guesses where it is not told all, and skips what it takes for a comment or a blank.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stream.errors import UsageError

#: Of one row: a quote that nobody closes takes no more memory than this.
ROW_CHARS_MAX: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A header, then rows of as many cells, read as they are asked for. UTF-8, with or without its mark."""

    path: Path
    delimiter: str

    def columns(self) -> Sequence[str]:
        """UsageError where a name stands twice; a column without one is `columnN`, from 0 on."""
        _, cells = next(self._records(), (1, []))
        if not cells:
            raise UsageError(f"{self.path} has no row of column names")
        names = [name or f"column{number}" for number, name in enumerate(cells)]
        lower = [name.lower() for name in names]
        for number, name in enumerate(names):
            if lower.index(name.lower()) < number:
                raise UsageError(f"{self.path}:1: two columns have the name '{name}': rename one")
        return names

    def rows(self, skip: int = 0) -> Iterator[list[str | None]]:
        """The cells of each row; None for an empty one. Blank lines are no rows."""
        columns = len(self.columns())
        records = self._records()
        next(records)
        for number, (line, cells) in enumerate(records):
            if len(cells) != columns:
                raise UsageError(
                    f"{self.path}:{line}: {len(cells)} cells where the header has {columns}: "
                    "quote a cell that holds the delimiter, or name another one with --delimiter"
                )
            if number >= skip:
                yield [cell or None for cell in cells]

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Records that are not blank, each with the line that it begins on."""
        csv.field_size_limit(ROW_CHARS_MAX)
        begin = 1
        try:
            with self.path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
                reader = csv.reader(file, delimiter=self.delimiter, strict=True)
                for cells in reader:
                    _check(cells)
                    if cells:
                        yield begin, cells
                    begin = reader.line_num + 1
        except OSError as wrong:
            raise UsageError(f"{self.path} cannot be read: {wrong.strerror}") from wrong
        except (csv.Error, UnicodeError) as wrong:
            raise UsageError(f"{self.path}:{begin}: cannot be read as CSV in UTF-8: {wrong}") from wrong


def _check(cells: Sequence[str]) -> None:
    """UnicodeError for bytes that are no UTF-8: they came as halves of surrogate pairs, for the line to be known."""
    for cell in cells:
        if not cell.isascii():
            cell.encode()
    if sum(map(len, cells)) > ROW_CHARS_MAX:
        raise csv.Error(f"a row longer than {ROW_CHARS_MAX:,} characters")
