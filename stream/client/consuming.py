"""Reading some partitions to a count of records, to their present end or for ever, within a time."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final, NamedTuple

from schemas.custom_id import custom_id_in
from stream.client.deadline import Deadline
from stream.errors import WaitedTooLong
from stream.log.base import Log, Partition, Polled, Record

BATCH_RECORDS_MAX: Final = 1_000
POLL_S: Final = 0.5
#: For the questions before the first record.
ASK_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be read: all up to the present end, `count` records, or whatever comes, for ever."""

    count: int | None = None
    follow: bool = False
    #: Others are passed over and not counted.
    custom_id: str | None = None

    @property
    def to_end(self) -> bool:
        return self.count is None and not self.follow

    def wants(self, record: Record) -> bool:
        return self.custom_id is None or custom_id_in(record.value()) == self.custom_id

    def words(self) -> str:
        """Why it is not done yet."""
        if self.follow:
            return "more may come"
        return "the end is not reached" if self.count is None else f"{self.count} were asked for"


class Look(NamedTuple):
    """The records that are wanted, and whether anything came at all."""

    records: Sequence[Record]
    came: bool


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

    def looks(self, wish: Wish) -> Generator[Look]:
        """What each look at the log gave, until the wish is met. WaitedTooLong when the time is up."""
        if not self._begins or (wish.to_end and not self._left):
            return
        with closing(self._log.reader(self._begins)) as reader:
            while not self._done(wish):
                polled = reader.poll(self._batch(wish), self._wait_s(wish))
                yield Look(self._take(polled, wish), bool(polled.records or polled.ends))

    def _done(self, wish: Wish) -> bool:
        return not self._left if wish.to_end else self._records == wish.count

    def _batch(self, wish: Wish) -> int:
        return BATCH_RECORDS_MAX if wish.count is None else min(BATCH_RECORDS_MAX, wish.count - self._records)

    def _wait_s(self, wish: Wish) -> float:
        try:
            return min(POLL_S, self._deadline.left_s)
        except WaitedTooLong as late:
            raise WaitedTooLong(
                f"{self._records} records in {self._deadline.timeout_s:g} s, {wish.words()}"
            ) from late

    def _take(self, polled: Polled, wish: Wish) -> list[Record]:
        wanted: list[Record] = []
        for record in polled.records:
            place = Partition(record.topic(), record.partition())
            if wish.to_end and record.offset() >= self._ends[place]:
                self._left.discard(place)
                continue
            if wish.wants(record):
                wanted.append(record)
            self._reached(place, record.offset() + 1)
        for end in polled.ends:
            self._reached(Partition(end.topic, end.partition), end.offset)
        self._records += len(wanted)
        return wanted

    def _reached(self, place: Partition, offset: int) -> None:
        if offset >= self._ends[place]:
            self._left.discard(place)
