"""What a record weighs in memory, about: every bound on bytes counts with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schemas.headers import Header

#: Of an input record: one with more is not read.
HEADERS_MAX: Final = 1_000
#: Of any record: with ours beside the producer's. Of a record with more, the headers are not even kept.
KEPT_HEADERS_MAX: Final = HEADERS_MAX + 100
#: What a header weighs beside its name and value: two strings and a pair of Python's.
HEADER_BYTES: Final = 100


def record_weight(key: bytes | None, value: bytes | None, headers: Iterable[Header] = ()) -> int:
    """Bytes."""
    weight = len(key or b"") + len(value or b"")
    for name, content in headers:
        weight += HEADER_BYTES + len(name) + len(content or b"")
    return weight
