"""A record as one line of JSON: all of it, or its value alone."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable

import msgspec

from stream.errors import TooManyHeaders
from stream.log.base import Record

#: Ends of lines to Unicode but not to JSON; inside JSON they stand in strings only, so the escape means the same.
_LINE_ENDS = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def record_line(record: Record, *, as_bytes: bool = False) -> str:
    """Partition, offset, timestamp (ms), key, headers, encoding and value; no line end.

    Key and headers are text (bytes that are not UTF-8 as ``\\xff``); `as_bytes` gives base64 for all three. Headers
    that the client cannot give are null, and `headers_note` says why.
    """
    text = _base64 if as_bytes else _text
    head = {
        "partition": record.partition(),
        "offset": record.offset(),
        "timestamp": record.timestamp()[1],
        "key": text(record.key()),
        **_headers(record, text),
    }
    encoding, value = _bytes_value(record.value()) if as_bytes else _value(record.value())
    started = json.dumps(head, ensure_ascii=False)[:-1]
    line = f'{started}, "encoding": {json.dumps(encoding)}, "value": {value}}}'
    return line if line.isascii() else line.translate(_LINE_ENDS)


def value_line(record: Record, *, as_bytes: bool = False) -> str:
    """The value alone, on one line: JSON and text as they are, where they have line ends or are no text as JSON; no line end."""
    encoding, value = _bytes_value(record.value()) if as_bytes else _value(record.value())
    text = (record.value() or b"").decode("utf-8") if encoding == "text" else ""
    if text and len(text.splitlines()) == 1 and not text[-1].isspace():
        return text
    if encoding == "base64":
        return value[1:-1]
    return value if value.isascii() else value.translate(_LINE_ENDS)


def _headers(record: Record, text: Callable[[bytes | None], str | None]) -> dict[str, object]:
    try:
        return {"headers": [[name, text(value)] for name, value in record.headers() or ()]}
    except UnicodeDecodeError:
        return {"headers": None, "headers_note": "a header's name is not UTF-8"}
    except TooManyHeaders as many:
        return {"headers": None, "headers_note": str(many)}


def readable(value: bytes | None) -> tuple[str | None, str | None]:
    """(encoding, the bytes as text): `text` where they are UTF-8, else `base64`; None for null."""
    if value is None:
        return None, None
    try:
        return "text", value.decode("utf-8")
    except UnicodeDecodeError:
        return "base64", _base64(value)


def _value(value: bytes | None) -> tuple[str | None, str]:
    """The encoding's name, and the value as JSON text: a JSON value stands in the line as it is."""
    if value is None:
        return None, "null"
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return _bytes_value(value)
    if not _is_json(value):
        return "text", json.dumps(text, ensure_ascii=False)
    if "\n" in text or "\r" in text:
        return "json", msgspec.json.format(text, indent=-1)
    return "json", text.strip()


def _is_json(value: bytes) -> bool:
    try:
        msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _bytes_value(value: bytes | None) -> tuple[str | None, str]:
    return (None, "null") if value is None else ("base64", json.dumps(_base64(value)))


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "backslashreplace")


def _base64(value: bytes | None) -> str | None:
    return None if value is None else b64encode(value).decode("ascii")
