"""--check: every row is looked at as the service would, before one is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from schemas.control import read_control
from schemas.decode import Decoder
from schemas.errors import BadRecord
from stream.config.findings import nearest
from stream.config.settings import Settings
from stream.run_batch.row import Mark, Row, Rows

#: Findings that are told; the others are counted.
TOLD_MAX: Final = 50


def check_rows(rows: Rows, settings: Settings, topic: str, tell: Callable[[int, str], None]) -> int:
    """`tell(line, what is wrong)` for the first TOLD_MAX findings; how many there are."""
    found = 0
    judge = _Judge(settings, topic)
    for row in rows.read(Mark()):
        wrong = row.problem or judge.wrong(row)
        if not wrong:
            continue
        found += 1
        if found <= TOLD_MAX:
            tell(row.line, wrong)
    return found


class _Judge:
    """Decides as the dispatcher does for records of this input."""

    def __init__(self, settings: Settings, topic: str) -> None:
        self._endpoints = settings.endpoints
        self._headers_bytes_max = settings.limits.headers_bytes_max
        self._decoder = Decoder(value_bytes_max=settings.limits.value_bytes_max)
        self._refuse_unknown = any(
            binding.pattern == topic and binding.unknown_fields == "refuse" for binding in settings.inputs
        )

    def wrong(self, row: Row) -> str | None:
        """What is wrong with a row, and what would be right."""
        try:
            read_control(row.headers, row.key, self._headers_bytes_max)
            request = self._decoder.decode(row.value, refuse_unknown=self._refuse_unknown)
        except BadRecord as bad:
            return f"{bad.failure.error_class}: {bad}"
        if request.endpoint in self._endpoints:
            return None
        return (
            f"unknown_endpoint: no endpoint '{request.endpoint}'{nearest(request.endpoint, self._endpoints)}"
        )
