"""The session of a line: one for all, or the value of a field."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from schemas import headers

#: Longest session that may travel as a header; a longer one is the record's key alone.
SESSION_HEADER_BYTES_MAX: Final = 256


class NoSession(ValueError):
    """A line has no session where one was asked for; the words say why."""


def session_of(value: bytes, field: str) -> bytes:
    """The text or whole number at `field` (`user`, `body.metadata.user`) of a JSON line; NoSession otherwise."""
    try:
        found = msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError) as wrong:
        raise NoSession(f"is not JSON, so it has no field '{field}': {wrong}") from wrong
    session = _at(found, field)
    if isinstance(session, bool) or not isinstance(session, str | int) or session == "":
        raise NoSession(f"has no text or whole number at '{field}'")
    return str(session).encode("utf-8")


def session_headers(session: bytes | None) -> headers.Headers:
    """The control header that goes before every other session key."""
    if session is None or len(session) > SESSION_HEADER_BYTES_MAX:
        return []
    return [(headers.SESSION, session)]


def _at(found: Any, field: str) -> Any:
    """The exact name first, then as a path with dots."""
    if isinstance(found, dict) and field in found:
        return found[field]
    for name in field.split("."):
        if not isinstance(found, dict):
            return None
        found = found.get(name)
    return found
