"""A work record as the worker reads it back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from schemas import headers as names
from schemas.carry import Carried, kept, passing, restore
from schemas.control import NO_CONTROL, Control, Errors, ReplyTo, read_control
from schemas.errors import BadRecord, ForeignRecord
from schemas.headers import Header, Headers
from schemas.lane import LANES, Lane
from schemas.own_headers import carried_of, check_version, number_of
from schemas.source import Source
from schemas.work import VERSION_HEADER

_LANE_OF: Final[dict[bytes | None, Lane]] = {lane.encode(): lane for lane in LANES}
#: Ours without the producer's: version, source, timestamp, session or route, four of routing, slice, map.
_OWN_COUNT: Final = 10
#: The dispatcher has judged the size; the renamed headers are a little larger.
_NO_BOUND: Final = 2**62


class WorkRecord(msgspec.Struct, frozen=True):
    """Key and value are the input's, byte for byte."""

    key: bytes | None
    value: bytes | None
    source: Source
    #: ms of the input.
    source_timestamp_ms: int
    #: Whose outputs keep their order. None: it stands outside any session.
    session: str | None
    tenant: str
    lane: Lane
    endpoint: str
    format: str
    replay: int = 0
    #: The producer's headers, control headers renamed.
    carried: Carried = ()
    #: The producer's control headers, read again.
    control: Control = NO_CONTROL

    @property
    def deadline_ms(self) -> int | None:
        """ms since the epoch."""
        return self.control.deadline_ms

    @property
    def reply_to(self) -> ReplyTo | None:
        return self.control.reply_to

    @property
    def errors(self) -> Errors:
        return self.control.errors

    @property
    def passing(self) -> Headers:
        """Headers that go on to the result."""
        return passing(self.carried)

    @property
    def kept(self) -> Headers:
        """The control headers under their names on this record."""
        return kept(self.carried)


def parse_work(key: bytes | None, value: bytes | None, headers: Sequence[Header] | None) -> WorkRecord:
    """Read a work record back.

    Raises NewerVersion, or ForeignRecord where one of our headers is missing or garbled.
    """
    given = headers or ()
    own = dict(given)
    if own.get(names.VERSION) != VERSION_HEADER[1]:
        check_version(own)
    carried = carried_of(given) if len(given) > _OWN_COUNT else ()
    try:
        return WorkRecord(
            key,
            value,
            Source.parse(_text(own[names.SOURCE])),
            int(_text(own[names.SOURCE_TIMESTAMP])),
            _text(own[names.SESSION]) if names.SESSION in own else None,
            _shared_text(own[names.TENANT]),
            _LANE_OF[own[names.LANE]],
            _shared_text(own[names.ENDPOINT]),
            _shared_text(own[names.FORMAT]),
            number_of(own, names.REPLAY) if names.REPLAY in own else 0,
            carried,
            _control(carried) if carried else NO_CONTROL,
        )
    except KeyError as error:
        raise ForeignRecord(f"not a work record: header or lane {error} is missing or unknown") from error
    except (TypeError, ValueError) as error:
        raise ForeignRecord(f"not a work record: {error}") from error


def _text(value: bytes | None) -> str:
    """TypeError where it is null."""
    return str(value, "utf-8")  # type: ignore[arg-type]


#: Few differ, and each is held by every open record.
_shared_text = lru_cache(maxsize=4_096)(_text)


def _control(carried: Carried) -> Control:
    if not kept(carried):
        return NO_CONTROL
    try:
        return read_control(restore(carried), headers_bytes_max=_NO_BOUND)
    except BadRecord as error:
        raise ForeignRecord(f"not a work record: {error}") from error
