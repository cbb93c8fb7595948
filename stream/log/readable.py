"""What a record's client can give of it."""

from __future__ import annotations

from schemas.headers import Headers
from stream.log.base import Record


def safe_headers(record: Record) -> Headers | None:
    """A record's headers; None where a name is not UTF-8, which the client cannot give."""
    try:
        return record.headers() or []
    except UnicodeDecodeError:
        return None
