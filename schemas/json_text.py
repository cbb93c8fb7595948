"""What JSON text must hold before it is parsed: UTF-8, no byte order mark, no deep nesting.

msgspec itself refuses NaN, Infinity, lone surrogates, bad escapes, control characters and second values, also inside
fields that it skips. It does not look at the UTF-8 of skipped strings, and it recurses once a level: both are done here.
"""

from __future__ import annotations

from typing import Final

from schemas.errors import BadRecord

#: Levels of objects and arrays; beyond it nobody means it, and parsers recurse.
DEPTH_MAX: Final = 64

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_AS_SQUARE: Final = bytes.maketrans(b"{}", b"[]")
_NEITHER: Final = bytes(set(range(256)) - set(b'[]{}"'))


def check_text(value: bytes) -> None:
    """Raise BadRecord unless `value` is UTF-8 without a mark and not nested too deep. Cheap tests come first."""
    if not value.isascii():
        _check_utf8(value)
    if deeper_than(value, DEPTH_MAX):
        raise BadRecord.unreadable(
            f"nested deeper than {DEPTH_MAX} levels (or brackets do not match); at most {DEPTH_MAX} are read"
        )


def deeper_than(value: bytes, levels: int) -> bool:
    """Whether brackets outside strings nest deeper than `levels` (or are that many and do not match).

    Exact for JSON; linear in time, per level, for anything.
    """
    if value.count(b"[") + value.count(b"{") <= levels:
        return False
    brackets = _outside_strings(value)
    for _ in range(levels):
        if not brackets:
            return False
        # All innermost pairs go at once: one round is one level.
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


def _outside_strings(value: bytes) -> bytes:
    """The brackets that are structure, all as square ones. Escapes go first: a quote that is left opens or closes."""
    plain = value.replace(b"\\\\", b"").replace(b'\\"', b"").translate(_AS_SQUARE, _NEITHER)
    return b"".join(plain.split(b'"')[::2])


def _check_utf8(value: bytes) -> None:
    if value.startswith(BYTE_ORDER_MARK):
        raise BadRecord.unreadable("starts with a byte order mark; write UTF-8 without one")
    try:
        value.decode()
    except UnicodeDecodeError as error:
        raise BadRecord.unreadable(
            f"not UTF-8: byte 0x{value[error.start]:02x} at {error.start}; write JSON as UTF-8"
        ) from error
