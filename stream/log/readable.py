"""What a record's client can give of it."""

from __future__ import annotations

from typing import NamedTuple

from schemas.dead_letter import HEADERS_UNREADABLE
from schemas.headers import Headers
from stream.errors import TooManyHeaders
from stream.log.base import Record


class Told(NamedTuple):
    """Of a record's headers, what can be had; `omitted_bytes`: the size of all, where some cannot (0: not known)."""

    headers: Headers
    omitted_bytes: int | None = None


def safe_headers(record: Record) -> Headers | None:
    """A record's headers; None where a name is not UTF-8, which the client cannot give, or where they are too many."""
    told = headers_told(record)
    return told.headers if told.omitted_bytes is None else None


def headers_told(record: Record) -> Told:
    """A record's headers; of too many, those that ask something of the service."""
    try:
        return Told(record.headers() or [])
    except TooManyHeaders as many:
        return Told(many.kept, many.size_bytes)
    except UnicodeDecodeError:
        return Told([], HEADERS_UNREADABLE)
