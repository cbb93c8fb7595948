"""Lines to records, with a bounded buffer; what happens to one line is no other's trouble."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from schemas.headers import Headers
from stream.cli.lines import Line
from stream.cli.session import NoSession, session_headers, session_of
from stream.errors import LogError, LogTimeout
from stream.log.base import Delivery, Output, PlainProducer

#: Seconds without a single delivery after which producing is given up.
STALL_S: Final = 120.0
FLUSH_S: Final = 1.0
#: Complaints about single lines; further ones are counted only.
COMPLAINTS_MAX: Final = 20


@dataclass(slots=True)
class Produced:
    """What became of the lines."""

    topic: str
    records: int = 0
    failed: int = 0
    #: Number of the last line that was handed over, blank ones counted.
    lines: int = 0
    #: Partition -> offset of its last record.
    last: dict[int, int] = field(default_factory=dict)


class Producing:
    """Sends lines to one topic; `session` for all of them, or the field that holds it."""

    def __init__(
        self,
        producer: PlainProducer,
        topic: str,
        fixed: Headers,
        session: bytes | None = None,
        session_field: str | None = None,
        *,
        complain: Callable[[int, str], None],
    ) -> None:
        """`complain(line number, why)` about single lines, COMPLAINTS_MAX times."""
        self._producer = producer
        self._fixed = fixed
        self._session = session
        self._session_field = session_field
        self._produced = Produced(topic)
        self._complain = complain

    def run(self, lines: Iterable[Line]) -> Produced:
        """Send all, wait for all. LogTimeout when Kafka stalls."""
        for line in lines:
            self._send(line)
            self._produced.lines = line.number
        return self.finish()

    def finish(self) -> Produced:
        """Wait for what was sent. After an interrupted `run`, so that every line up to `lines` is told for."""
        self._wait_for_all()
        return self._produced

    def _send(self, line: Line) -> None:
        if line.value is None:
            self._fail(line.number, f"is longer than {self._produced.topic} takes")
            return
        try:
            output = self._output(line.value)
            self._producer.send(output, partial(self._delivered, line.number))
        except (NoSession, LogError) as wrong:
            self._fail(line.number, str(wrong))

    def _output(self, value: bytes) -> Output:
        session = self._session if self._session_field is None else session_of(value, self._session_field)
        return Output(self._produced.topic, session, value, self._fixed + session_headers(session))

    def _delivered(self, number: int, delivery: Delivery) -> None:
        if delivery.error is not None:
            self._fail(number, delivery.error)
            return
        self._produced.records += 1
        self._produced.last[delivery.partition] = delivery.offset

    def _fail(self, number: int, why: str) -> None:
        self._produced.failed += 1
        if self._produced.failed <= COMPLAINTS_MAX:
            self._complain(number, why)

    def _wait_for_all(self) -> None:
        left, since = self._producer.flush(FLUSH_S), time.monotonic()
        while left:
            now_left = self._producer.flush(FLUSH_S)
            if now_left < left:
                since = time.monotonic()
            elif time.monotonic() - since > STALL_S:
                raise LogTimeout(f"no record was taken for {STALL_S:.0f} s; {left} are not delivered")
            left = now_left
