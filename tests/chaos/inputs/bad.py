"""Bad records: each must cost one dead letter of the class beside it, and nothing else."""

from __future__ import annotations

from typing import NamedTuple

from schemas import headers as names
from schemas.failure import ErrorClass
from schemas.headers import Header


class Bad(NamedTuple):
    """A value and headers that cannot be answered."""

    value: bytes | None
    dies_as: ErrorClass
    headers: tuple[Header, ...] = ()


def line(endpoint: str, body: str, url: str = "/v1/chat/completions") -> bytes:
    """A request line whose body has `model` and the fields of `body`."""
    return f'{{"method":"POST","url":"{url}","body":{{"model":"{endpoint}",{body}}}}}'.encode()


GOOD_MESSAGES = '"messages":[{"role":"user","content":"hello"}]'


def bad_records(endpoint: str) -> list[Bad]:
    """One of each kind."""
    good = line(endpoint, GOOD_MESSAGES)
    unreadable, invalid = ErrorClass.UNREADABLE, ErrorClass.INVALID
    return [
        Bad(b"{not json", unreadable),
        Bad(b"[1,2]", unreadable),
        Bad(b"\xff\xfe\x00", unreadable),
        Bad(b"", unreadable),
        Bad(None, unreadable),
        Bad(good.replace(b"hello", b"\xc3\x28"), unreadable),
        Bad(line(endpoint, GOOD_MESSAGES + ',"temperature":NaN'), unreadable),
        Bad(b'{"method":"POST","url":"/v1/chat/completions"}', invalid),
        Bad(line(endpoint, '"messages":[]'), invalid),
        Bad(line(endpoint, GOOD_MESSAGES + ',"max_tokens":0'), invalid),
        Bad(line(endpoint, GOOD_MESSAGES, url="/v2/nowhere"), invalid),
        Bad(good, invalid, ((names.LANE, b"gold"),)),
        Bad(good, invalid, ((names.REPLY_TO, b"somebody.elses.topic"),)),
        Bad(good, invalid, ((names.SESSION, b"\xff"),)),
        Bad(line("nobody", GOOD_MESSAGES), ErrorClass.UNKNOWN_ENDPOINT),
        Bad(good, ErrorClass.EXPIRED, ((names.DEADLINE, b"1000"),)),
    ]
