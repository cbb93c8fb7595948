"""Session -> hash -> slice -> partition: where a record goes, and the headers that say so, made once for each session.

The headers' format is that of `schemas.work`; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from cache.session_key import SessionKey, session_key
from cache.shard_map import ShardMap, uniform
from schemas import headers as names
from schemas.control import Control
from schemas.headers import Header, Headers
from schemas.lane import LANES, Lane
from schemas.request import Body
from schemas.work import VERSION_HEADER
from stream.config.settings import Settings

#: Sessions remembered, of short keys; beyond it all are forgotten and found anew.
SESSIONS_MAX: Final = 20_000
KEY_BYTES_MAX: Final = 256

_Seen = tuple[bytes, str, str, str, str]


class Routing(NamedTuple):
    """What all records of a session have in common."""

    topic: str
    partition: int
    #: From the session or route to the map's version.
    headers: tuple[Header, ...]


class Placement:
    """The endpoints' maps and work topics. The maps are replaced between two transactions, with all that was seen."""

    def __init__(self, settings: Settings, partitions: Mapping[str, int]) -> None:
        """`partitions`: topic -> count. The maps are uniform over the work topics as they are."""
        topics = {
            (name, lane): settings.work_topic(name, lane) for name in settings.endpoints for lane in LANES
        }
        self.maps: dict[str, ShardMap] = {
            name: uniform(partitions[topics[name, LANES[0]]]) for name in settings.endpoints
        }
        self._topics = topics
        self._seen: dict[_Seen, Routing] = {}

    def find(
        self, control: Control, body: Body, key: bytes | None, tenant: str, lane: Lane, kind: str
    ) -> Routing:
        """`kind`: the header `headrace-format`."""
        if not key or control.session is not None or control.order is not None or len(key) > KEY_BYTES_MAX:
            return self._make(control, body, key, tenant, lane, kind)
        seen = (key, body.model, tenant, lane, kind)
        routing = self._seen.get(seen)
        if routing is None:
            routing = self._make(control, body, key, tenant, lane, kind)
            if len(self._seen) >= SESSIONS_MAX:
                self._seen.clear()
            self._seen[seen] = routing
        return routing

    def _make(
        self, control: Control, body: Body, key: bytes | None, tenant: str, lane: Lane, kind: str
    ) -> Routing:
        endpoint = body.model
        shard_map = self.maps[endpoint]
        found = session_key(control, body, key, tenant, shard_map.extend)
        slice_, partition = shard_map.place(found.hash)
        headers = (
            _who(found),
            (names.ENDPOINT, endpoint.encode()),
            (names.TENANT, tenant.encode()),
            (names.LANE, lane.encode()),
            (names.FORMAT, kind.encode()),
            (names.SLICE, b"%d" % slice_),
            (names.MAP, b"%d" % shard_map.version),
        )
        return Routing(self._topics[endpoint, lane], partition, headers)


def stamp(origin: bytes, offset: int, timestamp_ms: int, routing: Routing) -> Headers:
    """The headers of a work record. `origin`: `topic/partition/` of its source."""
    return [
        VERSION_HEADER,
        (names.SOURCE, b"%b%d" % (origin, offset)),
        (names.SOURCE_TIMESTAMP, b"%d" % timestamp_ms),
        *routing[2],
    ]


def travelling(control: Control) -> Headers:
    """What a record with headers of its own has behind ours."""
    counted: Headers = [(names.REPLAY, b"%d" % control.replay)] if control.replay else []
    return [*counted, *control.carried]


def _who(found: SessionKey) -> Header:
    if found.session is not None:
        return (names.SESSION, found.session.encode())
    return (names.ROUTE, (found.route or "").encode())
