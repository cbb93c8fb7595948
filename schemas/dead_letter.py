"""The dead letter: the original record untouched, and in headers why it has no answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from schemas import headers as names
from schemas.carry import Carried, carry_dead, restore
from schemas.control import headers_size
from schemas.errors import ForeignRecord
from schemas.failure import ErrorClass, Failure, Stage
from schemas.headers import DLQ_PREFIX, Header, Headers
from schemas.lane import Lane
from schemas.message_text import shorten, utf8
from schemas.own_headers import carried_of, check_version, number_of, optional_number, optional_text, text_of
from schemas.source import Source
from schemas.work import VERSION_HEADER

#: Key, value and headers of a dead letter; its topic takes a little more (a record has a head of its own).
DEAD_LETTER_BYTES_MAX: Final = 17 * 1024 * 1024 - 64 * 1024
#: Set where even the headers, or the key, do not fit; the value is their size in bytes.
HEADERS_OMITTED: Final = "headrace-headers-omitted"
#: Their size where a name is not UTF-8: no client of ours can give them, and nobody can put them back.
HEADERS_UNREADABLE: Final = 0
KEY_OMITTED: Final = "headrace-key-omitted"

_TOPIC: Final = DLQ_PREFIX + "topic"
_PARTITION: Final = DLQ_PREFIX + "partition"
_OFFSET: Final = DLQ_PREFIX + "offset"
_GROUP: Final = DLQ_PREFIX + "group"
_DELIVERIES: Final = DLQ_PREFIX + "delivery.count"
_MESSAGE: Final = DLQ_PREFIX + "message"


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One record's end without an answer, with all that a replay needs."""

    key: bytes | None
    value: bytes | None
    #: The producer's headers, renamed as on a work record (carry.py).
    carried: Carried
    source: Source
    #: ms of the input.
    source_timestamp_ms: int
    #: Consumer group that gave up.
    group: str
    failure: Failure
    #: Engine attempts; 0: never ran.
    attempts: int = 0
    replay: int = 0
    tenant: str | None = None
    lane: Lane | None = None
    endpoint: str | None = None
    format: str | None = None
    #: Original sizes in bytes of what did not fit; the source says where it is.
    value_omitted: int | None = None
    headers_omitted: int | None = None
    key_omitted: int | None = None

    @property
    def original_headers(self) -> Headers:
        """The producer's headers byte for byte."""
        return restore(self.carried)

    @property
    def whole(self) -> bool:
        """Nothing was omitted: it can be replayed from itself."""
        return (self.value_omitted, self.headers_omitted, self.key_omitted) == (None, None, None)


class Written(NamedTuple):
    """A record's parts, ready to publish."""

    key: bytes | None
    value: bytes | None
    headers: Headers


def write_dead_letter(letter: DeadLetter, bytes_max: int = DEAD_LETTER_BYTES_MAX) -> Written:
    """The record for the dead-letter topic, never larger than `bytes_max`: value, headers and key go, in this order."""
    key, value = letter.key, letter.value
    carried = list(carry_dead(letter.carried))
    headers = _own_headers(letter)
    room = bytes_max - headers_size(headers) - len(value or b"") - len(key or b"") - headers_size(carried)
    if room < 0 and value:
        room += len(value)
        headers.append((names.VALUE_OMITTED, b"%d" % len(value)))
        value = None
    if room < 0 and carried:
        size = headers_size(carried)
        room += size
        headers.append((HEADERS_OMITTED, b"%d" % size))
        carried = []
    if room < 0 and key:
        headers.append((KEY_OMITTED, b"%d" % len(key)))
        key = None
    return Written(key, value, headers + carried)


def parse_dead_letter(key: bytes | None, value: bytes | None, headers: Sequence[Header] | None) -> DeadLetter:
    """Read a dead letter back. Raises NewerVersion, or ForeignRecord where it is none of ours."""
    own = {name: content for name, content in headers or () if name.startswith(("headrace-", DLQ_PREFIX))}
    check_version(own)
    try:
        return DeadLetter(
            key=key,
            value=value,
            carried=tuple(h for h in carried_of(headers or ()) if not h[0].startswith(DLQ_PREFIX)),
            source=Source.parse(text_of(own, names.SOURCE)),
            source_timestamp_ms=number_of(own, names.SOURCE_TIMESTAMP),
            group=text_of(own, _GROUP),
            failure=_failure(own),
            attempts=number_of(own, names.ATTEMPTS),
            replay=optional_number(own, names.REPLAY) or 0,
            tenant=optional_text(own, names.TENANT),
            lane=None if own.get(names.LANE) is None else Lane(text_of(own, names.LANE)),
            endpoint=optional_text(own, names.ENDPOINT),
            format=optional_text(own, names.FORMAT),
            value_omitted=optional_number(own, names.VALUE_OMITTED),
            headers_omitted=optional_number(own, HEADERS_OMITTED),
            key_omitted=optional_number(own, KEY_OMITTED),
        )
    except ValueError as error:
        raise ForeignRecord(f"not a dead letter: {error}") from error


def _own_headers(letter: DeadLetter) -> Headers:
    failure = letter.failure
    texts: list[tuple[str, str | int | None]] = [
        (names.SOURCE, str(letter.source)),
        (names.SOURCE_TIMESTAMP, letter.source_timestamp_ms),
        (names.TENANT, letter.tenant),
        (names.LANE, letter.lane),
        (names.ENDPOINT, letter.endpoint),
        (names.FORMAT, letter.format),
        (names.REPLAY, letter.replay or None),
        (names.ATTEMPTS, letter.attempts),
        (names.ERROR_CLASS, failure.error_class),
        (names.STAGE, failure.stage),
        (names.RETRY_AFTER, failure.retry_after_ms),
        (HEADERS_OMITTED, letter.headers_omitted),
        (_TOPIC, letter.source.topic),
        (_PARTITION, letter.source.partition),
        (_OFFSET, letter.source.offset),
        (_GROUP, letter.group),
        (_DELIVERIES, max(1, letter.attempts)),
        (_MESSAGE, shorten(failure.message)),
    ]
    written = [(name, utf8(str(text))) for name, text in texts if text is not None]
    return [VERSION_HEADER, *written]


def _failure(own: dict[str, bytes | None]) -> Failure:
    return Failure(
        ErrorClass(text_of(own, names.ERROR_CLASS)),
        Stage(text_of(own, names.STAGE)),
        text_of(own, _MESSAGE),
        optional_number(own, names.RETRY_AFTER),
    )
