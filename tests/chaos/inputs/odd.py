"""Headers that a producer may send and nobody reads: they must come out again byte for byte, in their order."""

from __future__ import annotations

from typing import Final

from schemas import headers as names
from schemas.headers import Header

#: Repeated, empty and null ones, bytes that are no text, names that look like ours or like Kafka's for dead letters.
ODD: Final[tuple[tuple[Header, ...], ...]] = (
    (),
    (("trace", b"\x00\xff"), ("b3", b"1"), ("trace", b"again")),
    (("empty", b""), ("null", None), ("", b"without a name")),
    ((names.DLQ_PREFIX + "topic", b"mine"), (names.DLQ_PREFIX + "message", None)),
    ((names.SOURCE, b"forged/0/1"), (names.ERROR_CLASS, b"poison"), (names.REPLAY, b"7")),
    (
        (names.KEPT_PREFIX + "lane", b"gold"),
        ("headrace-headrace-x", b"1"),
        (f"headrace-{names.DLQ_PREFIX}y", b""),
    ),
)
