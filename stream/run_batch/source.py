"""The input of a batch as rows: which file, which template, which columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from schemas import headers as names
from schemas.headers import Headers
from stream.config.settings import Settings
from stream.errors import UsageError
from stream.run_batch.body import body_template, read_body
from stream.run_batch.endpoint import endpoint_name, named_endpoint, only_endpoint
from stream.run_batch.rename import Rename
from stream.run_batch.request_lines import RequestLines
from stream.run_batch.row import Mark, Rows
from stream.run_batch.table_rows import TableRows
from stream.run_batch.wanted import Wanted

#: Room beside a value for the batch's own headers.
FRAME_BYTES: Final = 1_024


@dataclass(frozen=True, slots=True)
class Source:
    """Rows, and the columns of the table that they come from (of an input of lines: none)."""

    rows: Rows
    columns: Sequence[str]


def make_source(wanted: Wanted, settings: Settings, started: bool) -> Source:
    """UsageError for a column, an endpoint or a file that is not there. `started`: --model was loaded for this batch."""
    model = endpoint_name(wanted.model) if started and wanted.model is not None else wanted.model
    endpoint = named_endpoint(settings.endpoints, wanted.endpoint, model)
    bytes_max = _bytes_max(settings)
    headers = _fixed(wanted)
    if wanted.input_format == "jsonl":
        rename = None
        if endpoint is not None:
            called = {wanted.model, wanted.served_name, wanted.endpoint} - {None, endpoint}
            rename = Rename({name for name in called if name is not None}, endpoint)
        return Source(RequestLines(wanted.input, bytes_max, headers, rename, wanted.key_field), ())
    template = body_template(
        model=endpoint or only_endpoint(settings.endpoints),
        base={} if wanted.body is None else read_body(wanted.body),
        prompt=wanted.prompt,
        system=wanted.system,
        tokens_max=wanted.tokens_max,
        choices=wanted.choices,
    )
    columns = wanted.table.columns()
    rows = TableRows(
        wanted.table,
        template,
        bytes_max,
        headers,
        wanted.id_column,
        wanted.key_column,
        wanted.header_columns,
    )
    rows.check(columns)
    _check_output(wanted, columns)
    return Source(rows, columns)


def count(wanted: Wanted, settings: Settings) -> int:
    """How many rows there are: one pass over the file."""
    if wanted.input_format != "jsonl":
        return wanted.table.count()
    lines = RequestLines(wanted.input, _bytes_max(settings), headers=[])
    return sum(1 for _ in lines.read(Mark()))


def _bytes_max(settings: Settings) -> int:
    return settings.limits.value_bytes_max - FRAME_BYTES


def _check_output(wanted: Wanted, columns: Sequence[str]) -> None:
    if wanted.output_format == "jsonl":
        return
    lower = {column.lower() for column in columns}
    for option, name in (("--answer-column", wanted.answer_column), ("--error-column", wanted.error_column)):
        if name.lower() in lower:
            raise UsageError(f"{wanted.input} has a column '{name}' already: name another with {option}")


def _fixed(wanted: Wanted) -> Headers:
    given = ((names.LANE, wanted.lane), (names.TENANT, wanted.tenant))
    return [(name, value.encode()) for name, value in given if value is not None]
