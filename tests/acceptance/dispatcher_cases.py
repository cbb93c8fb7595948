"""Bad records that the dispatcher decides on: they never reach a work topic."""

from __future__ import annotations

from schemas.headers import Header
from tests.acceptance.case import (
    INVALID,
    UNKNOWN,
    UNREADABLE,
    UNWRITABLE_EARLY,
    Case,
    line,
    reply_to,
)

GOOD = line()
DEEP = b"[" * 10_000 + b"]" * 10_000

_UNREADABLE: dict[str, bytes | None] = {
    "not JSON": b"hello",
    "an array": b"[1]",
    "a number": b"7",
    "null": b"null",
    "half a line": GOOD[:-1],
    "two values": GOOD + GOOD,
    "invalid UTF-8": GOOD.replace(b"hello", b"\xff\xfe"),
    "a byte order mark": b"\xef\xbb\xbf" + GOOD,
    "a lone surrogate": GOOD.replace(b"hello", b"\\ud800"),
    "empty": b"",
    "a tombstone": None,
    "10,000 levels of nesting": b'{"x":' + DEEP + b"," + GOOD[1:],
    "10,000 levels and nothing else": DEEP,
    "NaN": GOOD.replace(b'"max_tokens": 8', b'"temperature": NaN'),
    "Infinity": GOOD.replace(b'"max_tokens": 8', b'"temperature": Infinity'),
    "16 MiB and more": b"x" * (16 * 1024 * 1024 + 1000),
}

_INVALID: dict[str, bytes] = {
    "10^400": GOOD.replace(b'"max_tokens": 8', b'"temperature": 1e400'),
    "an integer of 401 digits": GOOD.replace(b'"max_tokens": 8', b'"max_tokens": 1' + b"0" * 400),
    "no body": line(body=...),
    "a body of text": line(body="hi"),
    "no model": line(body_model=...),
    "a model that is a number": line(body_model=7),
    "no messages": line(body_messages=...),
    "messages of text": line(body_messages="hi"),
    "empty messages": line(body_messages=[]),
    "an unknown role": line(body_messages=[{"role": "robot", "content": "hi"}]),
    "an unknown url": line(url="/v1/images"),
    "an unknown method": line(method="GET"),
    "max_tokens 0": line(body_max_tokens=0),
    "max_tokens negative": line(body_max_tokens=-1),
    "max_tokens 2^63": line(body_max_tokens=2**63),
    "max_tokens text": line(body_max_tokens="8"),
    "temperature -1": line(body_temperature=-1),
    "temperature 99": line(body_temperature=99),
    "temperature text": line(body_temperature="warm"),
    "1,000 stops": line(body_stop=["x"] * 1_000),
    "no choices": line(body_structured_outputs={"choice": []}),
    "10,000 choices": line(body_structured_outputs={"choice": [str(number) for number in range(10_000)]}),
    "a schema of text": line(
        body_response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": "no"}}
    ),
}

_HEADERS: dict[str, Header] = {
    "lane gold": ("headrace-lane", b"gold"),
    "deadline soon": ("headrace-deadline-ms", b"soon"),
    "a lane that is not UTF-8": ("headrace-lane", b"\xff"),
    "a tenant that is not UTF-8": ("headrace-tenant", b"\xff"),
    "a session that is not UTF-8": ("headrace-session", b"\xff\x00"),
    "a reply topic that is not allowed": ("headrace-reply-to", b"headrace.dead-letters"),
    "a reply topic that is an input": ("headrace-reply-to", b"headrace.requests"),
    "a reply topic that cannot be one": ("headrace-reply-to", b"a b/c"),
}

CASES = [
    *(Case(name, value, UNREADABLE, (("mine", b"\xfe"),)) for name, value in _UNREADABLE.items()),
    *(Case(name, value, INVALID) for name, value in _INVALID.items()),
    *(Case(name, GOOD, INVALID, (header, ("mine", None))) for name, header in _HEADERS.items()),
    Case("an unknown endpoint", line(body_model="sin"), UNKNOWN),
    Case("a deadline that passed", GOOD, ("expired", "route"), (("headrace-deadline-ms", b"1000"),)),
    Case("a reply topic that is missing", GOOD, UNWRITABLE_EARLY, reply_to("headrace.replies.missing")),
    Case("a partition that is missing", GOOD, UNWRITABLE_EARLY, reply_to("headrace.replies.small:99")),
    Case("a compacted reply topic", GOOD, UNWRITABLE_EARLY, reply_to("headrace.replies.compacted")),
    Case(
        "a compacted reply topic and no key",
        GOOD,
        UNWRITABLE_EARLY,
        reply_to("headrace.replies.compacted"),
        None,
    ),
    Case("a key of 70,000 bytes", GOOD, UNREADABLE, (), b"k" * 70_000),
]
