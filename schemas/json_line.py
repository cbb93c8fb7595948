"""A request line from JSON text: one fast pass for the usual line, a careful one for all others.

The fast pass decodes every string, so that msgspec itself has checked its UTF-8, and its depth is bounded by the types
where no free-form field is given. Unknown fields, free-form ones and everything wrong take the careful pass.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from schemas.errors import BadRecord
from schemas.explain import explain
from schemas.json_text import check_text
from schemas.request import Body, Line
from schemas.wide import WideLine, narrow

_LINE: Final = msgspec.json.Decoder(Line)
_WIDE: Final = msgspec.json.Decoder(WideLine)
_SYNTAX: Final = msgspec.json.Decoder(msgspec.Raw)
#: The first half of a surrogate pair without its second.
_HALF_CHARACTER: Final = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})")
_WHITESPACE: Final = b" \t\r\n"


def line_of_json(value: bytes) -> Line:
    """Parse strictly; BadRecord says what is wrong and where."""
    try:
        line = _LINE.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return _careful(value)
    if _has_free_form(line.body):
        check_text(value)
    return line


def _has_free_form(body: Body) -> bool:
    """Whether a field is given whose depth its type does not bound."""
    if body.response_format is not None or body.structured_outputs is not None:
        return True
    # A plain loop: any() would make a generator for every record.
    for message in body.messages or ():  # noqa: SIM110
        if message.content.__class__ is list or message.tool_calls is not None:
            return True
    return False


def _careful(value: bytes) -> Line:
    check_text(value)
    try:
        return narrow(_WIDE.decode(value))
    except msgspec.ValidationError as error:
        raise _wrong_field(value, error) from error
    except msgspec.DecodeError as error:
        raise _not_json(value, error) from error


def _wrong_field(value: bytes, error: msgspec.ValidationError) -> BadRecord:
    # msgspec stops at the first wrong field; what follows it may still not be JSON, and that counts first.
    try:
        _SYNTAX.decode(value)
    except msgspec.DecodeError as syntax:
        return _not_json(value, syntax)
    if value.lstrip(_WHITESPACE)[:1] != b"{":
        return BadRecord.unreadable("JSON, but not an object; a request line is one object")
    return BadRecord.invalid(explain(error))


def _not_json(value: bytes, error: msgspec.DecodeError) -> BadRecord:
    half = _HALF_CHARACTER.search(value)
    if half is not None and "truncated" in str(error):  # msgspec's word for it
        text = f"the escape {half.group().decode()} at byte {half.start()} is half a character"
        return BadRecord.unreadable(f"not JSON: {text}")
    return BadRecord.unreadable(f"not JSON: {str(error).removeprefix('JSON is malformed: ')}")
