"""An input of rows: each becomes a request by a template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import msgspec

from schemas.headers import Headers
from stream.run_batch.body import BodyTemplate
from stream.run_batch.row import Mark, Row
from stream.run_batch.table import Table
from stream.run_batch.template import as_text, check_columns


def _plain(value: object) -> Any:
    """What JSON has no word for, as a text."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, date | datetime | time | Decimal | UUID):
        return str(value)
    raise NotImplementedError(type(value).__name__)


_ENCODER: Final = msgspec.json.Encoder(enc_hook=_plain, decimal_format="string")


@dataclass(frozen=True, slots=True)
class TableRows:
    """The rows of a CSV or Parquet file as requests."""

    table: Table
    template: BodyTemplate
    bytes_max: int
    #: On every record.
    headers: Headers
    #: The column of the custom_id; None: `row-N`, from 1 on.
    id_column: str | None = None
    #: The column of the key, and so of the session.
    key_column: str | None = None
    #: (header, column).
    header_columns: Sequence[tuple[str, str]] = ()

    def check(self, columns: Sequence[str]) -> None:
        """UsageError for a column that is named and not there."""
        named = [self.id_column, self.key_column, *(column for _, column in self.header_columns)]
        wanted = [*self.template.columns, *(column for column in named if column is not None)]
        check_columns(wanted, columns, self.table.path)

    def read(self, begin: Mark) -> Iterator[Row]:
        for number, cells in enumerate(self.table.rows(begin.rows), begin.rows):
            yield self._row(number, cells)

    def _row(self, number: int, cells: Mapping[str, object]) -> Row:
        after = Mark(number + 1, number + 1, number + 1)
        headers = [*self.headers, *self._headers(cells)]
        custom_id = self._custom_id(number, cells)
        row = Row(number, number + 1, self._key(cells), None, headers, after, custom_id=custom_id)
        try:
            value = _ENCODER.encode(self._line(custom_id, cells))
        except (NotImplementedError, TypeError, ValueError) as wrong:
            return row._replace(problem=f"row {number + 1} cannot be written as JSON: {wrong}")
        if len(value) > self.bytes_max:
            words = f"row {number + 1} makes a request of {len(value)} bytes; {self.bytes_max} are taken"
            return row._replace(problem=words)
        return row._replace(value=value)

    def _custom_id(self, number: int, cells: Mapping[str, object]) -> str | None:
        """None where the column has nothing: a name of our own might be that of another row."""
        if self.id_column is None:
            return f"row-{number + 1}"
        cell = cells[self.id_column]
        return None if cell is None or cell == "" else as_text(cell)

    def _line(self, custom_id: str | None, cells: Mapping[str, object]) -> dict[str, object]:
        named = {} if custom_id is None else {"custom_id": custom_id}
        return {
            **named,
            "method": "POST",
            "url": self.template.url,
            "body": self.template.fill(cells),
        }

    def _key(self, cells: Mapping[str, object]) -> bytes | None:
        cell = None if self.key_column is None else cells[self.key_column]
        return None if cell is None or cell == "" else as_text(cell).encode()

    def _headers(self, cells: Mapping[str, object]) -> Headers:
        return [
            (name, None if cells[column] is None else as_text(cells[column]).encode())
            for name, column in self.header_columns
        ]
