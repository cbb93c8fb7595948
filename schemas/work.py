"""The work record: the input's bytes untouched, everything derived in headers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from schemas import headers as names
from schemas.carry import Carried, passing, restore
from schemas.control import NO_CONTROL, Control, Errors, ReplyTo, read_control
from schemas.errors import ForeignRecord, NewerVersion
from schemas.headers import FORMAT_VERSION, KEPT_PREFIX, OWN_PREFIX, Header, Headers
from schemas.lane import Lane
from schemas.source import Source

VERSION_HEADER: Final[Header] = (names.VERSION, str(FORMAT_VERSION).encode())
#: Constant headers remembered; beyond it all are forgotten and made anew.
CACHED_MAX: Final = 10_000


class Routed(NamedTuple):
    """What the dispatcher found out about a record."""

    endpoint: str
    tenant: str
    lane: Lane
    format: str
    #: Explicit session; None: `route` is the prefix key.
    session: str | None
    route: str | None
    slice: int
    map_version: int


class WorkHeaders:
    """Builds the headers of work records. What repeats from record to record is made once."""

    def __init__(self) -> None:
        self._fixed: dict[tuple[str, str, str, str], Headers] = {}
        self._places: dict[tuple[int, int], Headers] = {}

    def build(
        self, source: Source, timestamp_ms: int, routed: Routed, control: Control = NO_CONTROL
    ) -> Headers:
        """`timestamp_ms` is the input's."""
        endpoint, tenant, lane, kind, session, route, slice_, version = routed
        headers = [
            VERSION_HEADER,
            (names.SOURCE, str(source).encode()),
            (names.SOURCE_TIMESTAMP, b"%d" % timestamp_ms),
        ]
        if session is not None:
            headers.append((names.SESSION, session.encode()))
        elif route is not None:
            headers.append((names.ROUTE, route.encode()))
        headers += self._fixed.get((endpoint, tenant, lane, kind)) or self._fix(endpoint, tenant, lane, kind)
        headers += self._places.get((slice_, version)) or self._place(slice_, version)
        if control.replay:
            headers.append((names.REPLAY, b"%d" % control.replay))
        headers += control.carried
        return headers

    def _fix(self, endpoint: str, tenant: str, lane: Lane, kind: str) -> Headers:
        if len(self._fixed) >= CACHED_MAX:
            self._fixed.clear()
        fixed: Headers = [
            (names.ENDPOINT, endpoint.encode()),
            (names.TENANT, tenant.encode()),
            (names.LANE, lane.encode()),
            (names.FORMAT, kind.encode()),
        ]
        self._fixed[endpoint, tenant, lane, kind] = fixed
        return fixed

    def _place(self, slice_: int, version: int) -> Headers:
        if len(self._places) >= CACHED_MAX:
            self._places.clear()
        place: Headers = [(names.SLICE, b"%d" % slice_), (names.MAP, b"%d" % version)]
        self._places[slice_, version] = place
        return place


@dataclass(frozen=True)
class WorkRecord:
    """A work record as the worker sees it."""

    key: bytes | None
    value: bytes | None
    source: Source
    #: ms of the input.
    source_timestamp_ms: int
    session: str | None
    tenant: str
    lane: Lane
    endpoint: str
    format: str
    replay: int = 0
    #: The producer's headers, control headers renamed.
    carried: Carried = ()

    @cached_property
    def control(self) -> Control:
        """The producer's control headers; the dispatcher has validated them."""
        if any(name.startswith(KEPT_PREFIX) for name, _ in self.carried):
            return read_control(restore(self.carried), headers_bytes_max=2**31)
        return NO_CONTROL

    @property
    def deadline_ms(self) -> int | None:
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


def parse_work(key: bytes | None, value: bytes | None, headers: Sequence[Header] | None) -> WorkRecord:
    """Read a work record back.

    Raises NewerVersion, or ForeignRecord where one of our headers is missing or garbled.
    """
    own = dict(headers or ())
    check_version(own)
    try:
        session = own.get(names.SESSION)
        return WorkRecord(
            key=key,
            value=value,
            source=Source.parse(own_text(own, names.SOURCE)),
            source_timestamp_ms=int(own_text(own, names.SOURCE_TIMESTAMP)),
            session=None if session is None else session.decode(),
            tenant=own_text(own, names.TENANT),
            lane=Lane(own_text(own, names.LANE)),
            endpoint=own_text(own, names.ENDPOINT),
            format=own_text(own, names.FORMAT),
            replay=int(own.get(names.REPLAY) or 0),
            carried=carried_of(headers or ()),
        )
    except ValueError as error:
        raise ForeignRecord(f"not a work record: {error}") from error


def carried_of(headers: Sequence[Header]) -> Carried:
    """The producer's part: all but our own."""
    return tuple(
        header
        for header in headers
        if not header[0].startswith(OWN_PREFIX) or header[0].startswith(KEPT_PREFIX)
    )


def own_text(own: dict[str, bytes | None], name: str) -> str:
    """The text of a header that ours always have; ForeignRecord where it is missing."""
    value = own.get(name)
    if value is None:
        raise ForeignRecord(f"header {name} is missing")
    return value.decode()


def check_version(own: dict[str, bytes | None]) -> None:
    """NewerVersion where a later Headrace wrote the record; ForeignRecord where nobody of ours did."""
    version = own_text(own, names.VERSION)
    if not version.isdigit():
        raise ForeignRecord(f"header {names.VERSION} is not a number: {version[:80]!r}")
    if int(version) > FORMAT_VERSION:
        raise NewerVersion(f"a record of version {version}; this program reads up to {FORMAT_VERSION}")
