"""A record with too many headers: they are dropped as soon as they are counted, for each weighs more than it says.

65,000 headers of one byte fill 200 kB of a topic and 9 MB of a process (seen). Of more than 100,000 librdkafka gives
none at all, and says nothing: such a record looks like one without headers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schemas.control import headers_size
from schemas.headers import OWN_PREFIX, Header, Headers
from stream.errors import TooManyHeaders
from stream.log.base import Record

#: Names that begin like ours, of which a few mean something: where there are more, none is kept.
KEPT_MAX: Final = 100


class Crowded:
    """A `Record` that says at every question for its headers that they are too many."""

    def __init__(self, record: Record, headers: Sequence[Header]) -> None:
        self._place = (record.topic(), record.partition(), record.offset())
        self._key, self._value = record.key(), record.value()
        self._timestamp, self._leader_epoch = record.timestamp(), record.leader_epoch()
        told = too_many(headers)
        self._told = (told.count, told.size_bytes, told.kept)

    def topic(self) -> str:
        return self._place[0]

    def partition(self) -> int:
        return self._place[1]

    def offset(self) -> int:
        return self._place[2]

    def key(self) -> bytes | None:
        return self._key

    def value(self) -> bytes | None:
        return self._value

    def timestamp(self) -> tuple[int, int]:
        return self._timestamp

    def leader_epoch(self) -> int | None:
        return self._leader_epoch

    def headers(self) -> Headers | None:
        raise TooManyHeaders(*self._told)


def too_many(headers: Sequence[Header]) -> TooManyHeaders:
    """What is to be raised, and what is kept of them."""
    asking = {name: value for name, value in headers if name.startswith(OWN_PREFIX) and value}
    kept: Headers = list(asking.items()) if len(asking) <= KEPT_MAX else []
    return TooManyHeaders(len(headers), headers_size(headers), kept)
