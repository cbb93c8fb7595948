"""Odd but good records: each is answered, with its key and the producer's headers as they were."""

from __future__ import annotations

import json

from schemas.headers import Header
from tests.acceptance.case import Case, line, reply_to
from tests.acceptance.dispatcher_cases import GOOD

PLANES = "".join(chr(plane * 0x10000 + 0x41) for plane in range(17))
LONG_ID = "i" * 50_000
#: 500 names of their own, within the bound of 64 KiB.
MANY: tuple[Header, ...] = tuple((f"header-{number}", b"%d" % number) for number in range(500))
REPEATED: tuple[Header, ...] = (
    ("a", b"1"),
    ("a", b"2"),
    ("a", None),
    ("b", b""),
    ("binary", b"\xff\x00\xfe"),
    ("", b"nameless"),
)


def _with_unknown(text: bytes) -> bytes:
    return b'{"unknown": ' + text + b", " + GOOD[1:]


CASES = [
    Case("no key", GOOD, key=None),
    Case("an empty key", GOOD, key=b""),
    Case("a binary key", GOOD, key=b"\x00\xff\xfe\x80"),
    Case("a key of 5,000 bytes", GOOD, key=b"k" * 5_000),
    Case("repeated, empty and null headers", GOOD, headers=REPEATED),
    Case("500 headers", GOOD, headers=MANY),
    Case("forged headers", GOOD, headers=(("headrace-source", b"a/0/0"), ("headrace-version", b"9"))),
    Case(
        "a lane of which the last wins", GOOD, headers=(("headrace-lane", b"x"), ("headrace-lane", b"batch"))
    ),
    Case("unknown fields", line(unknown={"a": [1]}, body_unknown=None)),
    Case("10^400 in an unknown field", _with_unknown(b"1e400")),
    Case("12 MB in an unknown field", _with_unknown(json.dumps("x" * 12_000_000).encode())),
    Case("60 levels in an unknown field", _with_unknown(b"[" * 60 + b"]" * 60)),
    Case("no custom_id", line(custom_id=...), custom_id=None),
    Case("a custom_id of 50 KB", line(custom_id=LONG_ID), custom_id=LONG_ID),
    Case(
        "every plane of Unicode",
        line(custom_id=PLANES, body_messages=[{"role": "user", "content": PLANES}]),
        custom_id=PLANES,
    ),
    Case("empty content", line(body_messages=[{"role": "user", "content": ""}])),
    Case("more max_tokens than the model has", line(body_max_tokens=2**31 - 1)),
    Case(
        "a small answer on a small topic",
        GOOD,
        headers=reply_to("headrace.replies.small"),
        answered_on="headrace.replies.small",
    ),
]
