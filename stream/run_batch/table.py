"""Tables as DuckDB reads them: CSV with every cell as its text, Parquet with its types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, Literal

import duckdb

from stream.errors import UsageError

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


def scan(kind: Format) -> str:
    """The table function that reads a file of this kind; the path is its parameter."""
    # As text: 007 stays 007, and what goes out again is what came in.
    return "read_csv(?, all_varchar=true, header=true)" if kind == "csv" else "read_parquet(?)"


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


def columns_of(path: Path, kind: Format) -> Sequence[str]:
    """The names of its columns; UsageError where it is no such table."""
    with opened(path) as connection:
        found = connection.execute(f"SELECT * FROM {scan(kind)} LIMIT 0", [str(path)])
        return [str(column[0]) for column in found.description]


def count_rows(path: Path, kind: Format) -> int:
    """How many rows it has."""
    with opened(path) as connection:
        found = connection.execute(f"SELECT count(*) FROM {scan(kind)}", [str(path)]).fetchone()
        return int(found[0]) if found else 0


def read_rows(path: Path, kind: Format, skip: int) -> Iterator[dict[str, object]]:
    """Its rows in their order, the first `skip` left out."""
    with opened(path) as connection:
        found = connection.execute(f"SELECT * FROM {scan(kind)} OFFSET {int(skip)}", [str(path)])
        names = [str(column[0]) for column in found.description]
        while batch := found.fetchmany(BATCH_ROWS):
            for row in batch:
                yield dict(zip(names, row, strict=True))


def _first_line(wrong: duckdb.Error) -> str:
    lines = [line.strip() for line in str(wrong).splitlines() if line.strip()]
    return " ".join(lines[:3])
