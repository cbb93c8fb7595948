"""A failure's words, made fit to travel: bounded, and always UTF-8."""

from __future__ import annotations

from typing import Final

MESSAGE_BYTES_MAX: Final = 2048
_CUT: Final = "…"


def shorten(message: str, bytes_max: int = MESSAGE_BYTES_MAX) -> str:
    """At most `bytes_max` (3 or more) bytes of UTF-8, whole characters only."""
    raw = utf8(message)
    if len(raw) <= bytes_max:
        return raw.decode()
    return raw[: bytes_max - len(_CUT.encode())].decode(errors="ignore") + _CUT


def utf8(text: str) -> bytes:
    """A lone surrogate in a message must not cost the dead letter: it is written as an escape."""
    return text.encode(errors="backslashreplace")
