"""The output as a table: the input's columns, and beside them what became of each row."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from stream.errors import StreamError
from stream.run_batch.csv_file import CsvFile
from stream.run_batch.folder import beside_of
from stream.run_batch.outcome import cells_of
from stream.run_batch.private import open_private
from stream.run_batch.table import Format, Table, delimiter_of, opened

_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_OF_CELLS: Final = ("custom_id", "answer", "error")
#: Of a CSV file's rows beside their cells, each row as an object that DuckDB cannot misread.
_JOINED: Final = "rows.jsonl"


def cells_line(line: bytes) -> bytes:
    """Of an output line, what the table takes."""
    return _encode(cells_of(line)._asdict()) + b"\n"


def write_table(
    source: Table | None,
    cells: Path,
    output: tuple[Path, Format],
    names: tuple[str, str],
    check: Callable[[], None],
) -> None:
    """The columns of `source` (of an input of lines: the custom_id), then answer and error under `names`.

    Both are in the order of the input. The output appears whole or not at all: `check` may raise when it is written.
    """
    path, kind = output
    beside = beside_of(path)
    joined = cells.with_name(_JOINED)
    form = "parquet" if kind == "parquet" else f"csv, header, delimiter '{delimiter_of(path)}'"
    try:
        select, given = _select(source, cells, names, joined)
        with opened(path, home=cells.parent) as connection:
            connection.execute(f"COPY ({select}) TO {_text(str(beside))} (FORMAT {form})", given)
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        check()
        beside.replace(path)
    finally:
        joined.unlink(missing_ok=True)
        beside.unlink(missing_ok=True)


def _select(
    source: Table | None, cells: Path, names: tuple[str, str], joined: Path
) -> tuple[str, Sequence[str]]:
    """A query, and its parameters."""
    answer, error = (_quoted(name) for name in names)
    of_cells = f"c.answer AS {answer}, c.error AS {error}"
    if source is None:
        return f"SELECT custom_id, {of_cells} FROM {_read_lines(_OF_CELLS)} c", [str(cells)]
    if source.csv is None:
        lines = _read_lines(_OF_CELLS)
        return f"SELECT t.*, {of_cells} FROM read_parquet(?) t POSITIONAL JOIN {lines} c", [
            str(source.path),
            str(cells),
        ]
    columns = source.columns()
    _join(source.csv, cells, joined)
    own = [f"c.c{number} AS {_quoted(name)}" for number, name in enumerate(columns)]
    every = [*(f"c{number}" for number in range(len(columns))), *_OF_CELLS]
    return f"SELECT {', '.join(own)}, {of_cells} FROM {_read_lines(every)} c", [str(joined)]


def _join(source: CsvFile, cells: Path, joined: Path) -> None:
    """Each row and its cells, in one object. StreamError where one file has more of them than the other."""
    with os.fdopen(open_private(joined), "wb") as file, cells.open("rb") as outcomes:
        file.truncate(0)
        for row, outcome in _pairs(source, outcomes):
            own = {f"c{number}": cell for number, cell in enumerate(row)}
            file.write(_encode({**own, **_decode(outcome)}) + b"\n")


def _pairs(source: CsvFile, outcomes: Iterator[bytes]) -> Iterator[tuple[list[str | None], bytes]]:
    try:
        yield from zip(source.rows(), outcomes, strict=True)
    except ValueError as wrong:
        raise StreamError(f"{source.path} has not as many rows as outcomes: it changed meanwhile") from wrong


def _read_lines(columns: Sequence[str]) -> str:
    types = ", ".join(f"{name}: 'VARCHAR'" for name in columns)
    return f"read_json(?, format='newline_delimited', columns={{{types}}}, maximum_object_size=67108864)"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
