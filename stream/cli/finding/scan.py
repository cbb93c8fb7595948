"""Reading whole topics within a time that all scans of a command share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Final

from stream.client.deadline import Deadline
from stream.errors import LogTimeout
from stream.log.base import Log, LogReader, Partition, Record

#: The clock is looked at once in so many records.
LOOK_EVERY: Final = 2_000


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
    with closing(log.reader(begin, careful=True)) as reader:
        yield from scan(reader, deadline)
