"""--check: every row is looked at as the service would, before one is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from schemas.control import HEADERS_BYTES_MAX, read_control
from schemas.decode import Decoder
from schemas.errors import BadRecord
from stream.config.findings import nearest
from stream.run_batch.row import Mark, Row, Rows
from workers.endpoint import Endpoint

#: Findings that are told; the others are counted.
TOLD_MAX: Final = 50


def check_rows(
    rows: Rows, endpoints: Mapping[str, Endpoint], value_bytes_max: int, tell: Callable[[int, str], None]
) -> int:
    """`tell(line, what is wrong)` for the first TOLD_MAX findings; how many there are."""
    found = 0
    for line, wrong in _findings(rows, endpoints, Decoder(value_bytes_max=value_bytes_max)):
        found += 1
        if found <= TOLD_MAX:
            tell(line, wrong)
    return found


def _findings(rows: Rows, endpoints: Mapping[str, Endpoint], decoder: Decoder) -> Iterator[tuple[int, str]]:
    for row in rows.read(Mark()):
        wrong = row.problem or _wrong(row, endpoints, decoder)
        if wrong:
            yield row.line, wrong


def _wrong(row: Row, endpoints: Mapping[str, Endpoint], decoder: Decoder) -> str | None:
    try:
        read_control(row.headers, row.key, HEADERS_BYTES_MAX)
        request = decoder.decode(row.value)
    except BadRecord as bad:
        return f"{bad.failure.error_class}: {bad}"
    if request.endpoint in endpoints:
        return None
    return f"unknown_endpoint: no endpoint '{request.endpoint}'{nearest(request.endpoint, endpoints)}"
