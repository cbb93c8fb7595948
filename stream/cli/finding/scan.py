"""Reading whole topics within a time that all scans of a command share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Final

from stream.errors import LogTimeout, WaitedTooLong
from stream.log.base import Log, LogReader, Partition, Record

#: The clock is looked at once in so many records.
LOOK_EVERY: Final = 2_000


class Deadline:
    """The time of one command, and the words when it is over."""

    def __init__(self, timeout_s: float, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._timeout_s = timeout_s
        self._clock_s = clock_s
        self._until_s = clock_s() + timeout_s

    @property
    def left_s(self) -> float:
        """WaitedTooLong when nothing is left."""
        left_s = self._until_s - self._clock_s()
        if left_s <= 0:
            raise self.over()
        return left_s

    def over(self) -> WaitedTooLong:
        return WaitedTooLong(f"not all was looked through in {self._timeout_s:g} s; give more with --timeout")


def scan(reader: LogReader, deadline: Deadline) -> Iterator[Record]:
    """What the reader has not seen yet, to the present end. WaitedTooLong when the time is up."""
    try:
        for count, record in enumerate(reader.to_end(deadline.left_s)):
            if count % LOOK_EVERY == 0:
                _ = deadline.left_s
            yield record
    except LogTimeout as slow:
        raise deadline.over() from slow


def scan_topics(
    log: Log, begin: Sequence[str] | Mapping[Partition, int], deadline: Deadline
) -> Iterator[Record]:
    """Once through topics, or through partitions from offsets."""
    if not begin:
        return
    with closing(log.reader(begin)) as reader:
        yield from scan(reader, deadline)
