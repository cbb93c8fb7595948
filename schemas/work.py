"""The work record: the input's bytes untouched, everything derived in headers. This file writes, work_record.py reads."""

from __future__ import annotations

from typing import Final

import msgspec

from schemas import headers as names
from schemas.control import NO_CONTROL, Control
from schemas.headers import FORMAT_VERSION, Header, Headers
from schemas.lane import Lane

VERSION_HEADER: Final[Header] = (names.VERSION, str(FORMAT_VERSION).encode())
#: Constant headers remembered; beyond it all are forgotten and made anew.
CACHED_MAX: Final = 10_000


class Routed(msgspec.Struct, frozen=True, gc=False):
    """What the dispatcher found out about a record."""

    endpoint: str
    tenant: str
    lane: Lane
    format: str
    #: None: outside any session, and `route` has found its place.
    session: str | None
    route: str | None
    slice: int
    map_version: int


class WorkHeaders:
    """Builds the headers of work records: ours first, then the producer's. What repeats is made once."""

    def __init__(self) -> None:
        self._fixed: dict[tuple[str, str, str, str], tuple[Header, ...]] = {}
        self._places: dict[tuple[int, int], tuple[Header, ...]] = {}

    def build(
        self,
        source: tuple[str, int, int],
        timestamp_ms: int,
        routed: Routed,
        control: Control = NO_CONTROL,
    ) -> Headers:
        """`source`: a Source, or its bare tuple; `timestamp_ms` is the input's."""
        topic, partition, offset = source
        kind = (routed.endpoint, routed.tenant, routed.lane, routed.format)
        place = (routed.slice, routed.map_version)
        headers = [
            VERSION_HEADER,
            (names.SOURCE, f"{topic}/{partition}/{offset}".encode()),
            (names.SOURCE_TIMESTAMP, b"%d" % timestamp_ms),
            _session_header(routed),
            *(self._fixed.get(kind) or self._fix(*kind)),
            *(self._places.get(place) or self._place(*place)),
        ]
        if control is not NO_CONTROL:
            if control.replay:
                headers.append((names.REPLAY, b"%d" % control.replay))
            headers += control.carried
        return headers

    def _fix(self, endpoint: str, tenant: str, lane: Lane, kind: str) -> tuple[Header, ...]:
        if len(self._fixed) >= CACHED_MAX:
            self._fixed.clear()
        fixed = (
            (names.ENDPOINT, endpoint.encode()),
            (names.TENANT, tenant.encode()),
            (names.LANE, lane.encode()),
            (names.FORMAT, kind.encode()),
        )
        self._fixed[endpoint, tenant, lane, kind] = fixed
        return fixed

    def _place(self, slice_: int, version: int) -> tuple[Header, ...]:
        if len(self._places) >= CACHED_MAX:
            self._places.clear()
        place = ((names.SLICE, b"%d" % slice_), (names.MAP, b"%d" % version))
        self._places[slice_, version] = place
        return place


def _session_header(routed: Routed) -> Header:
    if routed.session is not None:
        return (names.SESSION, routed.session.encode())
    return (names.ROUTE, (routed.route or "").encode())
