"""One record, and what must become of it."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from schemas.headers import Header

ENDPOINT = "sim"
REQUESTS = "headrace.requests"
RESULTS = "headrace.results"
#: Engine class and stage of a dead letter.
UNREADABLE = ("unreadable", "decode")
INVALID = ("invalid", "validate")
UNKNOWN = ("unknown_endpoint", "route")
UNWRITABLE_EARLY, UNWRITABLE_LATE = ("unwritable", "route"), ("unwritable", "publish")
TOO_LARGE = ("too_large", "publish")
TOO_LONG = ("too_long", "engine")


class Case(NamedTuple):
    """A record to send, and its one output: a dead letter of class and stage `dies_as`, or a result on `answered_on`."""

    name: str
    value: bytes | None
    dies_as: tuple[str, str] | None = None
    headers: tuple[Header, ...] = ()
    key: bytes | None = b"somebody"
    topic: str = REQUESTS
    answered_on: str = RESULTS
    custom_id: str | None = "r-1"


def line(**fields: Any) -> bytes:
    """A good chat line; fields change or add, `...` takes one away, `body_x` does so in the body."""
    body: dict[str, Any] = {
        "model": ENDPOINT,
        "messages": [{"role": "user", "content": "hello"}],
        "max_tokens": 8,
    }
    whole: dict[str, Any] = {
        "custom_id": "r-1",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": body,
    }
    for name, value in fields.items():
        place = body if name.startswith("body_") else whole
        place[name.removeprefix("body_")] = value
    for place in (body, whole):
        for name in [name for name, value in place.items() if value is ...]:
            del place[name]
    return json.dumps(whole).encode()


def simulated(directives: str) -> bytes:
    """A line that asks the simulated engine for a fault on demand."""
    return line(body_metadata={"simulate": directives}, body_max_tokens=...)


def reply_to(topic: str) -> tuple[Header, ...]:
    return (("headrace-reply-to", topic.encode()),)
