"""Lines to records, with a bounded buffer; what happens to one line is no other's trouble."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from schemas.headers import Headers
from stream.client.addressing import Addressing
from stream.client.lines import Line
from stream.client.session import NoSession
from stream.errors import LogError, LogTimeout
from stream.log.base import Output
from stream.log.plain import Delivery, PlainProducer

#: Seconds without a single delivery after which producing is given up.
STALL_S: Final = 120.0
#: Longer: no line is given up for a stall while later ones go, or the topic would have holes that nobody names.
DELIVERY_S_MAX: Final = 5 * STALL_S
FLUSH_S: Final = 1.0
#: Complaints about single lines; further ones are counted only.
COMPLAINTS_MAX: Final = 20


def untold(_number: int, _delivery: Delivery) -> None:
    """Nobody wants to know where a line is."""


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
    """Sends lines to one topic, each with the key and the headers that `addressing` gives it."""

    def __init__(
        self,
        producer: PlainProducer,
        topic: str,
        addressing: Addressing,
        *,
        complain: Callable[[int, str], None],
        complaints_max: int = COMPLAINTS_MAX,
        delivered: Callable[[int, Delivery], None] = untold,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """`complain(line number, why)` about single lines, `complaints_max` times; `delivered` tells where each one is."""
        self._producer = producer
        self._addressing = addressing
        #: So far.
        self.produced = Produced(topic)
        self._complain = complain
        self._complaints_max = complaints_max
        self._tell = delivered
        self._clock_s = clock_s
        self._progress_s = clock_s()
        #: Lines handed over whose delivery nobody has told yet.
        self._under_way: set[int] = set()

    def run(self, lines: Iterable[Line]) -> Produced:
        """Send all, wait for all. LogTimeout when Kafka stalls."""
        for line in lines:
            self._send(line)
            self.produced.lines = line.number
        return self.finish()

    def finish(self) -> Produced:
        """Wait for what was sent. After an interrupted `run`, so that every line up to `lines` is told for."""
        self._wait_for_all()
        return self.produced

    def _send(self, line: Line) -> None:
        if line.value is None:
            self._fail(line.number, f"is longer than {self.produced.topic} takes")
            return
        try:
            self._hand_over(line.number, self._output(line.value, line.beside))
        except LogTimeout:
            raise
        except (NoSession, LogError) as wrong:
            self._fail(line.number, str(wrong))

    def _hand_over(self, number: int, output: Output) -> None:
        """Wait for room in the buffer, as long as something is delivered at all."""
        if not self._under_way:
            self._progress_s = self._clock_s()
        while True:
            self._under_way.add(number)
            try:
                self._producer.send(output, partial(self._delivered, number))
            except LogError as error:
                self._under_way.discard(number)
                if not isinstance(error, LogTimeout):
                    raise
                self._check_stall()
            else:
                return

    def _output(self, value: bytes, beside: tuple[bytes | None, Headers] | None) -> Output:
        key, headers = beside or self._addressing.of(value)
        return Output(self.produced.topic, key, value, headers)

    def _delivered(self, number: int, delivery: Delivery) -> None:
        self._under_way.discard(number)
        self._progress_s = self._clock_s()
        self._tell(number, delivery)
        if delivery.error is not None:
            self._fail(number, delivery.error)
            return
        self.produced.records += 1
        self.produced.last[delivery.partition] = delivery.offset

    def _fail(self, number: int, why: str) -> None:
        self.produced.failed += 1
        if self.produced.failed <= self._complaints_max:
            self._complain(number, why)

    def _wait_for_all(self) -> None:
        self._progress_s = self._clock_s()
        while self._producer.flush(FLUSH_S):
            self._check_stall()

    def _check_stall(self) -> None:
        if self._clock_s() - self._progress_s > STALL_S:
            raise LogTimeout(
                f"no record was taken for {STALL_S:.0f} s; every line before {min(self._under_way, default=1)} "
                f"has been delivered or named, {len(self._under_way)} of the lines from there to "
                f"{self.produced.lines} have not"
            )
