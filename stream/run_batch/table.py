"""Tables: CSV with every cell as its text, Parquet with its types as DuckDB reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import duckdb

from stream.errors import UsageError
from stream.run_batch.csv_file import CsvFile

Format = Literal["jsonl", "csv", "parquet"]
FORMATS: Final[tuple[Format, ...]] = ("jsonl", "csv", "parquet")
_BY_SUFFIX: Final[dict[str, Format]] = {
    ".jsonl": "jsonl",
    ".json": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
}
#: A table is streamed: this is for its reader's buffers, and for a Parquet row group on its way out.
MEMORY_MAX: Final = "512MB"
BATCH_ROWS: Final = 1_000


def format_of(path: Path, said: Format | None) -> Format:
    """By --format, else by the file's ending; another ending holds lines, as `vllm run-batch` has it."""
    return said or _BY_SUFFIX.get(path.suffix.lower(), "jsonl")


def delimiter_of(path: Path) -> str:
    """By the file's ending; nothing is guessed from what it holds."""
    return "\t" if path.suffix.lower() == ".tsv" else ","


@contextmanager
def opened(path: Path, home: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection whose complaints name the file. `home`: where it may put what does not fit into memory."""
    settings: dict[str, str | bool | int | float | list[str]] = {"memory_limit": MEMORY_MAX, "threads": 2}
    if home is not None:
        settings["temp_directory"] = str(home)
    with closing(duckdb.connect(config=settings)) as connection:
        try:
            yield connection
        except duckdb.Error as wrong:
            raise UsageError(f"{path} cannot be read: {_first_line(wrong)}") from wrong


@dataclass(frozen=True, slots=True)
class Table:
    """A file of rows, of either kind."""

    path: Path
    kind: Format
    #: Of CSV; None: by the file's ending.
    delimiter: str | None = None

    @property
    def csv(self) -> CsvFile | None:
        return CsvFile(self.path, self.delimiter or delimiter_of(self.path)) if self.kind == "csv" else None

    def columns(self) -> Sequence[str]:
        """The names of its columns; UsageError where it is no such table."""
        if self.csv is not None:
            return self.csv.columns()
        with opened(self.path) as connection:
            found = connection.execute("SELECT * FROM read_parquet(?) LIMIT 0", [str(self.path)])
            return [str(column[0]) for column in found.description]

    def count(self) -> int:
        """How many rows it has."""
        if self.csv is not None:
            return sum(1 for _ in self.csv.rows())
        with opened(self.path) as connection:
            found = connection.execute("SELECT count(*) FROM read_parquet(?)", [str(self.path)]).fetchone()
            return int(found[0]) if found else 0

    def rows(self, skip: int) -> Iterator[dict[str, object]]:
        """Its rows in their order, the first `skip` left out."""
        names = self.columns()
        for row in self._parquet_rows(skip) if self.csv is None else self.csv.rows(skip):
            yield dict(zip(names, row, strict=True))

    def _parquet_rows(self, skip: int) -> Iterator[Sequence[object]]:
        with opened(self.path) as connection:
            found = connection.execute(f"SELECT * FROM read_parquet(?) OFFSET {int(skip)}", [str(self.path)])
            while batch := found.fetchmany(BATCH_ROWS):
                yield from batch


def _first_line(wrong: duckdb.Error) -> str:
    lines = [line.strip() for line in str(wrong).splitlines() if line.strip()]
    return " ".join(lines[:3])
