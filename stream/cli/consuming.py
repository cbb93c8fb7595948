"""Reading some partitions to a count of records or to their present end, within a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Final

from stream.cli.deadline import Deadline
from stream.errors import WaitedTooLong
from stream.log.base import Log, Partition, Polled, Record

BATCH_RECORDS_MAX: Final = 1_000
POLL_S: Final = 0.5
#: For the questions before the first record.
ASK_S: Final = 30.0


class Consuming:
    """One pass over partitions. WaitedTooLong also when the time is up before the first record."""

    def __init__(
        self, log: Log, partitions: Sequence[Partition], deadline: Deadline, *, from_latest: bool
    ) -> None:
        self._log = log
        self._deadline = deadline
        with deadline.asking(ASK_S) as ask_s:
            self._ends = log.admin().stable_ends(partitions, ask_s)
        with deadline.asking(ASK_S) as ask_s:
            marks = log.admin().watermarks(partitions, ask_s)
        lows = {partition: watermarks.low for partition, watermarks in marks.items()}
        self._begins: Mapping[Partition, int] = self._ends if from_latest else lows
        self._left = {place for place, begin in self._begins.items() if begin < self._ends[place]}
        self._records = 0

    def run(
        self, count: int | None, write: Callable[[Record], None], flush: Callable[[], None] = lambda: None
    ) -> int:
        """`write` each record, `flush` after each batch; the number read. WaitedTooLong when the time is up."""
        if not self._begins or (count is None and not self._left):
            return 0
        with closing(self._log.reader(self._begins)) as reader:
            while not self._done(count):
                polled = reader.poll(self._batch(count), self._wait_s(count))
                self._take(polled, count, write)
                flush()
        return self._records

    def _done(self, count: int | None) -> bool:
        return self._records >= count if count is not None else not self._left

    def _batch(self, count: int | None) -> int:
        return BATCH_RECORDS_MAX if count is None else min(BATCH_RECORDS_MAX, count - self._records)

    def _wait_s(self, count: int | None) -> float:
        try:
            return min(POLL_S, self._deadline.left_s)
        except WaitedTooLong as late:
            wanted = "the end is not reached" if count is None else f"{count} were asked for"
            raise WaitedTooLong(
                f"{self._records} records in {self._deadline.timeout_s:g} s, {wanted}"
            ) from late

    def _take(self, polled: Polled, count: int | None, write: Callable[[Record], None]) -> None:
        for record in polled.records:
            place = Partition(record.topic(), record.partition())
            if count is None and record.offset() >= self._ends[place]:
                self._left.discard(place)
                continue
            write(record)
            self._records += 1
            self._reached(place, record.offset() + 1)
        for end in polled.ends:
            self._reached(Partition(end.topic, end.partition), end.offset)

    def _reached(self, place: Partition, offset: int) -> None:
        if offset >= self._ends[place]:
            self._left.discard(place)
