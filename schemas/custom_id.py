"""The custom_id of a line that is no good request: whoever sent it has nothing else to know its error by."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

#: Of a line that is not JSON, so much of the beginning is searched.
SEARCHED_BYTES_MAX: Final = 64 * 1024

_ID: Final = rb"""(?P<id>"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|-?\d+)"""
#: The id with its name in either kind of quotes, or in none; a string; or a bracket. A string without an end is one token
#: too, so that nothing is looked at twice for long.
_TOKEN: Final = re.compile(
    rb"""(?:"custom_id"|'custom_id'|(?<![\w"'])custom_id)\s*:\s*"""
    + _ID
    + rb"""|"(?:[^"\\\n]|\\.)*+"?|[{}\[\]]"""
)
#: Where a stray quote has turned inside out what is a string and what is not.
_ANYWHERE: Final = re.compile(rb'"custom_id"\s*:\s*' + _ID)
_OPENS: Final = (b"{", b"[")
_CLOSES: Final = (b"}", b"]")


class _Named(msgspec.Struct):
    """The one field that is read; the rest of the line may be what it likes."""

    custom_id: Any = None


_DECODER: Final = msgspec.json.Decoder(_Named)


def custom_id_in(value: bytes | None) -> str | None:
    """None where there is none, or it is no text. Of what is not JSON: the first, outermost one. Raises nothing."""
    if value is None:
        return None
    try:
        found = _DECODER.decode(value).custom_id
    except (msgspec.DecodeError, RecursionError):
        return _dug_from(value[:SEARCHED_BYTES_MAX])
    return found if isinstance(found, str) else None


def _dug_from(broken: bytes) -> str | None:
    """A line that is cut, has a stray comma or quote, other quotes, another encoding: the id mostly stands in it."""
    # UTF-16 of plain text: every other byte is zero.
    text = broken.replace(b"\0", b"")
    if not text.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").startswith(b"{"):
        return None
    found: tuple[int, bytes] | None = None
    depth = 0
    for token in _TOKEN.finditer(text):
        if token["id"] is not None:
            if depth <= 1:
                return _text(token["id"])
            found = min(found or (depth, token["id"]), (depth, token["id"]), key=lambda one: one[0])
        depth += (token[0] in _OPENS) - (token[0] in _CLOSES)
    anywhere = _ANYWHERE.search(text) if found is None else None
    if anywhere is not None:
        return _text(anywhere["id"])
    return None if found is None else _text(found[1])


def _text(literal: bytes) -> str:
    """What a string or a number says; one that cannot be read stays as it was written."""
    if not literal.startswith((b'"', b"'")):
        return literal.decode("ascii")
    inner = literal[1:-1]
    try:
        return msgspec.json.decode(b'"' + inner + b'"', type=str)
    except msgspec.DecodeError:
        return inner.decode("utf-8", "backslashreplace")
