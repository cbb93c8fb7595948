"""A request line from JSON text: one pass of msgspec, and a second, slower one only to explain what is wrong."""

from __future__ import annotations

from typing import Final

import msgspec

from schemas.errors import BadRecord
from schemas.explain import explain
from schemas.json_text import check_text
from schemas.request import Line

_LINE: Final = msgspec.json.Decoder(Line)
_SYNTAX: Final = msgspec.json.Decoder(msgspec.Raw)
_WHITESPACE: Final = b" \t\r\n"


def line_of_json(value: bytes) -> Line:
    """Parse strictly; BadRecord says what is wrong and where."""
    check_text(value)
    try:
        return _LINE.decode(value)
    except msgspec.ValidationError as error:
        raise _wrong_field(value, error) from error
    except msgspec.DecodeError as error:
        raise not_json(error) from error


def _wrong_field(value: bytes, error: msgspec.ValidationError) -> BadRecord:
    # msgspec stops at the first wrong field; what follows it may still not be JSON, and that counts first.
    try:
        _SYNTAX.decode(value)
    except msgspec.DecodeError as syntax:
        return not_json(syntax)
    if value.lstrip(_WHITESPACE)[:1] != b"{":
        return BadRecord.unreadable("JSON, but not an object; a request line is one object")
    return BadRecord.invalid(explain(error))


def not_json(error: msgspec.DecodeError) -> BadRecord:
    """BadRecord for a syntax error."""
    return BadRecord.unreadable(f"not JSON: {str(error).removeprefix('JSON is malformed: ')}")
