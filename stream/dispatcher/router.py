"""One input record -> its one output: a work record at its place, or why not."""

from __future__ import annotations

from schemas.control import NO_CONTROL, Control, read_control
from schemas.decode import Decoder
from schemas.errors import BadRecord
from schemas.failure import ErrorClass, Failure, Stage
from schemas.request import Request
from schemas.routing import lane_of, tenant_of
from stream.config.findings import nearest
from stream.config.settings import Settings
from stream.dispatcher.bindings import Inlet
from stream.dispatcher.placement import Placement, stamp, travelling
from stream.dispatcher.rejection import Rejections
from stream.dispatcher.reply_topics import ReplyTopicChecks
from stream.errors import TooManyHeaders
from stream.log.base import Output, Record

#: A NamedTuple's own constructor costs a call of Python.
_output = tuple.__new__


class Router:
    """Decides; reads no topic and writes none. `now_ms` is set once a batch: the clock of deadlines."""

    def __init__(
        self,
        settings: Settings,
        places: Placement,
        decoder: Decoder,
        targets: ReplyTopicChecks,
        refusals: Rejections,
    ) -> None:
        self._maps = places.maps
        self._find = places.find
        self._decode = decoder.decode
        self._targets = targets
        self._refusals = refusals
        self._headers_bytes_max = settings.limits.headers_bytes_max
        self._now_ms = 0
        #: A record of this batch had headers of its producer, or was refused.
        self.met_headers = False

    def next_batch(self, now_ms: int) -> None:
        """New records were read at `now_ms`."""
        self._now_ms = now_ms
        self.met_headers = False
        self._targets.next_batch()

    def route(self, record: Record, inlet: Inlet, origin: bytes) -> Output:
        """Never fails for what a record holds. RegistryUnavailable, LogTimeout: nobody can say yet, ask again.

        `origin`: the record's `topic/partition/`. This is the hot path: a call less is a percent more.
        """
        control: Control | None = None
        request: Request | None = None
        try:
            key = record.key()
            given = record.headers()
            control = read_control(given, key, self._headers_bytes_max) if given or key else NO_CONTROL
            value = record.value()
            request = self._decode(value, inlet[0], inlet[3])
            body = request.body
            if body.model not in self._maps:
                raise self._unknown_endpoint(body.model)
            if control is not NO_CONTROL:
                self._check(control)
            tenant = tenant_of(control, body, inlet[1])
            lane = lane_of(control, body, inlet[2])
            routing = self._find(control, body, key, tenant, lane, inlet[0])
            headers = stamp(origin, record.offset(), max(0, record.timestamp()[1]), routing)
            if control is not NO_CONTROL:
                headers += travelling(control)
                self.met_headers = True
            return _output(Output, (routing[0], key, value, headers, routing[1], 0))
        except BadRecord as bad:
            self.met_headers = True
            failure = self._first_found(record, inlet, bad, control)
            return self._refusals.output(record, failure, inlet, control, request)
        except TooManyHeaders as many:
            self.met_headers = True
            failure = Failure(ErrorClass.UNREADABLE, Stage.DECODE, f"too large: {many}")
            return self._refusals.output(record, failure, inlet, control, request)
        except UnicodeDecodeError as wrong:
            if control is not None:
                raise
            failure = Failure(
                ErrorClass.UNREADABLE, Stage.DECODE, f"the name of a header is not UTF-8: {wrong}"
            )
            return self._refusals.output(record, failure, inlet, control, request)

    def _check(self, control: Control) -> None:
        if control.reply_to is not None:
            self._targets.check(*control.reply_to)
        if control.deadline_ms is not None and control.deadline_ms <= self._now_ms:
            late_s = (self._now_ms - control.deadline_ms) / 1000
            words = f"the deadline {control.deadline_ms} passed {late_s:,.3f} s ago; not run"
            raise BadRecord(ErrorClass.EXPIRED, Stage.ROUTE, words)

    def _unknown_endpoint(self, name: str) -> BadRecord:
        words = f"$.body.model: no endpoint {name[:100]!r}{nearest(name[:100], self._maps)}"
        return BadRecord(ErrorClass.UNKNOWN_ENDPOINT, Stage.ROUTE, words)

    def _first_found(self, record: Record, inlet: Inlet, bad: BadRecord, control: Control | None) -> Failure:
        """A wrong header is found before the value is read; a value that cannot be read counts first."""
        if control is None and bad.failure.stage is Stage.VALIDATE:
            try:
                self._decode(record.value(), inlet.format, inlet.refuse_unknown)
            except BadRecord as value:
                if value.failure.stage is Stage.DECODE:
                    return value.failure
        return bad.failure
