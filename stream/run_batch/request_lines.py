"""An input of request lines: JSONL, as OpenAI Batch and `vllm run-batch` read it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from schemas.custom_id import custom_id_in
from schemas.headers import Headers
from stream.client.lines import open_lines, read_lines
from stream.client.session import NoSession, session_of
from stream.run_batch.rename import Rename
from stream.run_batch.row import Mark, Row


@dataclass(frozen=True, slots=True)
class RequestLines:
    """One request a line, bytes as they are; blank lines are skipped."""

    path: Path
    #: What the input topic takes as one value.
    bytes_max: int
    #: On every record.
    headers: Headers
    rename: Rename | None = None
    #: The field whose value is the record's key, and so its session.
    key_field: str | None = None

    def read(self, begin: Mark) -> Iterator[Row]:
        with open_lines(str(self.path), sys.stdin.buffer) as file:
            file.seek(begin.position)
            rows = begin.rows
            for line in read_lines(file, self.bytes_max):
                rows += 1
                number = begin.line + line.number
                yield self._row(number, line.value, Mark(rows, number, file.tell()))

    def _row(self, number: int, value: bytes | None, after: Mark) -> Row:
        row = Row(after.rows - 1, number, None, None, self.headers, after)
        if value is None:
            return row._replace(
                problem=f"line {number} is longer than the {self.bytes_max} bytes that are taken"
            )
        try:
            key = None if self.key_field is None else session_of(value, self.key_field)
        except NoSession as wrong:
            return row._replace(problem=f"line {number} {wrong}", custom_id=custom_id_in(value))
        return row._replace(key=key, value=value if self.rename is None else self.rename.line(value))
