"""One input record -> its one output: a work record at its place, or why not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cache.session_key import session_key
from cache.shard_map import ShardMap, uniform
from schemas.control import NO_CONTROL, Control, read_control
from schemas.decode import Decoder
from schemas.errors import BadRecord
from schemas.failure import ErrorClass, Failure, Stage
from schemas.lane import LANES, Lane
from schemas.request import Request
from schemas.routing import lane_of, tenant_of
from schemas.source import Source
from schemas.work import Routed, WorkHeaders
from stream.config.findings import nearest
from stream.config.settings import Settings
from stream.dispatcher.bindings import Inlet
from stream.dispatcher.refusals import Refusals
from stream.dispatcher.targets import Targets
from stream.log.base import Output, Record


class Endpoints(NamedTuple):
    """Where the endpoints' work goes."""

    maps: Mapping[str, ShardMap]
    topics: Mapping[tuple[str, Lane], str]


def endpoints_of(settings: Settings, partitions: Mapping[str, int]) -> Endpoints:
    """Uniform maps over the work topics as they are; `partitions`: topic -> count."""
    topics = {(name, lane): settings.work_topic(name, lane) for name in settings.endpoints for lane in LANES}
    maps = {name: uniform(partitions[topics[name, LANES[0]]]) for name in settings.endpoints}
    return Endpoints(maps, topics)


class Router:
    """Decides; reads no topic and writes none. `now_ms` is set once a batch: the clock of deadlines."""

    def __init__(
        self, settings: Settings, endpoints: Endpoints, decoder: Decoder, targets: Targets, refusals: Refusals
    ) -> None:
        self._maps = endpoints.maps
        self._topics = endpoints.topics
        self._decode = decoder.decode
        self._targets = targets
        self._refusals = refusals
        self._headers = WorkHeaders().build
        self._headers_bytes_max = settings.limits.headers_bytes_max
        self._now_ms = 0

    def next_batch(self, now_ms: int) -> None:
        """New records were read at `now_ms`."""
        self._now_ms = now_ms
        self._targets.next_batch()

    def route(self, record: Record, inlet: Inlet) -> Output:
        """Never fails for what a record holds. RegistryUnavailable, LogTimeout: nobody can say yet, ask again."""
        control: Control | None = None
        request: Request | None = None
        try:
            key = record.key()
            control = self._control(record, key)
            value = record.value()
            request = self._decode(value, inlet.format)
            body = request.body
            shard_map = self._maps.get(body.model)
            if shard_map is None:
                raise self._unknown_endpoint(body.model)
            if control is not NO_CONTROL:
                self._check(control, key)
            tenant = tenant_of(control, body, inlet.tenant)
            lane = lane_of(control, body, inlet.lane)
            found = session_key(control, body, key, tenant, shard_map.extend)
            slice_, partition = shard_map.place(found.hash)
            headers = self._headers(
                Source(record.topic(), record.partition(), record.offset()),
                max(0, record.timestamp()[1]),
                Routed(
                    body.model,
                    tenant,
                    lane,
                    inlet.format,
                    found.session,
                    found.route,
                    slice_,
                    shard_map.version,
                ),
                control,
            )
            return Output(self._topics[body.model, lane], key, value, headers, partition)
        except BadRecord as bad:
            failure = self._first_found(record, inlet, bad, control)
            return self._refusals.output(record, failure, inlet, control, request)

    def _control(self, record: Record, key: bytes | None) -> Control:
        try:
            headers = record.headers()
        except UnicodeDecodeError as wrong:
            raise BadRecord.unreadable(f"the name of a header is not UTF-8: {wrong}") from wrong
        if not headers and not key:
            return NO_CONTROL
        return read_control(headers, key, self._headers_bytes_max)

    def _check(self, control: Control, key: bytes | None) -> None:
        if control.reply_to is not None:
            self._targets.check(*control.reply_to, key)
        if control.deadline_ms is not None and control.deadline_ms <= self._now_ms:
            late_ms = self._now_ms - control.deadline_ms
            raise BadRecord(ErrorClass.EXPIRED, Stage.ROUTE, f"the deadline passed {late_ms} ms ago; not run")

    def _unknown_endpoint(self, name: str) -> BadRecord:
        words = f"$.body.model: no endpoint {name[:100]!r}{nearest(name[:100], self._maps)}"
        return BadRecord(ErrorClass.UNKNOWN_ENDPOINT, Stage.ROUTE, words)

    def _first_found(self, record: Record, inlet: Inlet, bad: BadRecord, control: Control | None) -> Failure:
        """A wrong header is found before the value is read; a value that cannot be read counts first."""
        if control is None and bad.failure.stage is Stage.VALIDATE:
            try:
                self._decode(record.value(), inlet.format)
            except BadRecord as value:
                if value.failure.stage is Stage.DECODE:
                    return value.failure
        return bad.failure
