"""The output as a table: the input's columns, and beside them what became of each row."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import msgspec

from stream.run_batch.outcome import cells_of
from stream.run_batch.table import Format, opened, scan

_encode: Final = msgspec.json.Encoder().encode
_COLUMNS: Final = "{custom_id: 'VARCHAR', answer: 'VARCHAR', error: 'VARCHAR'}"
_CELLS: Final = f"read_json(?, format='newline_delimited', columns={_COLUMNS}, maximum_object_size=67108864)"


def cells_line(line: bytes) -> bytes:
    """Of an output line, what the table takes."""
    return _encode(cells_of(line)._asdict()) + b"\n"


def write_table(
    source: tuple[Path, Format] | None, cells: Path, output: tuple[Path, Format], names: tuple[str, str]
) -> None:
    """The columns of `source` (of an input of lines: the custom_id), then answer and error under `names`.

    Both are in the order of the input. The output appears whole or not at all.
    """
    path, kind = output
    beside = path.with_name(f".{path.name}.new")
    answer, error = (_quoted(name) for name in names)
    form = "parquet" if kind == "parquet" else f"csv, header, delimiter '{_delimiter(path)}'"
    with opened(path, home=cells.parent) as connection:
        if source is None:
            select = f"SELECT custom_id, answer AS {answer}, error AS {error} FROM {_CELLS}"
            given = [str(cells)]
        else:
            table = scan(source[1])
            select = (
                f"SELECT t.*, c.answer AS {answer}, c.error AS {error} "
                f"FROM {table} t POSITIONAL JOIN {_CELLS} c"
            )
            given = [str(source[0]), str(cells)]
        connection.execute(f"COPY ({select}) TO {_text(str(beside))} (FORMAT {form})", given)
    with beside.open("rb") as file:
        os.fsync(file.fileno())
    beside.replace(path)


def _delimiter(path: Path) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else ","


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
