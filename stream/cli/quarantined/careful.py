"""Reading a stretch that members of the group cannot read: with more room, and around what stays unreadable."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Final, NamedTuple

from schemas.weight import record_weight
from stream.errors import LogTimeout
from stream.log.base import Log, Partition, Record
from stream.log.readable import headers_told
from stream.log.stuck import Stuck

#: Of one partition, with a broker that answers.
PATIENCE_S: Final = 30.0
POLL_S: Final = 0.2
RECORDS_MAX: Final = 100


class Chunk(NamedTuple):
    """Records that go together, the offset after them, and how many before it could not be read."""

    records: Sequence[Record]
    next_offset: int
    unread: int = 0


def probe(log: Log, place: Partition, offset: int, *, careful: bool = False) -> Stuck | None:
    """Whether a reader that begins at `offset` is stuck there; None: something comes. LogTimeout: nothing is said."""
    until_s = time.monotonic() + PATIENCE_S
    with closing(log.reader({place: offset}, careful=careful)) as reader:
        while time.monotonic() < until_s:
            polled = reader.poll(1, POLL_S)
            if polled.records or polled.ends:
                return None
            if polled.stuck:
                return polled.stuck[0]
    raise LogTimeout(f"nothing is heard of {place.topic}/{place.partition} from offset {offset} on")


def first_readable(log: Log, place: Partition, stuck_at: int, end: int, *, careful: bool = False) -> int:
    """An offset above `stuck_at` from which can be read, where the one before it cannot; `end` where there is none."""
    bad, step = stuck_at, 1
    while bad + step < end and probe(log, place, bad + step, careful=careful) is not None:
        bad, step = bad + step, step * 2
    good = min(bad + step, end)
    while good - bad > 1:
        middle = (good + bad) // 2
        if probe(log, place, middle, careful=careful) is None:
            good = middle
        else:
            bad = middle
    return good


def read_carefully(log: Log, place: Partition, first: int, last: int, bytes_max: int) -> Iterator[Chunk]:
    """All from `first` to `last`, in their order. What no reader can unpack is passed over and counted."""
    at = first
    while at <= last:
        for chunk in _readable(log, place, at, last, bytes_max):
            at = chunk.next_offset
            yield chunk
        if at <= last:
            goes_on = first_readable(log, place, at, last + 1, careful=True)
            yield Chunk((), goes_on, goes_on - at)
            at = goes_on


def _readable(log: Log, place: Partition, first: int, last: int, bytes_max: int) -> Iterator[Chunk]:
    """Up to `last`, or to where it is stuck."""
    quiet_until_s = time.monotonic() + PATIENCE_S
    with closing(log.reader({place: first}, careful=True)) as reader:
        while time.monotonic() < quiet_until_s:
            polled = reader.poll(RECORDS_MAX, POLL_S)
            wanted = [record for record in polled.records if record.offset() <= last]
            yield from _cut(wanted, bytes_max)
            if len(wanted) < len(polled.records) or any(end.offset > last for end in polled.ends):
                yield Chunk((), last + 1)
                return
            if wanted:
                if wanted[-1].offset() == last:
                    return
                quiet_until_s = time.monotonic() + PATIENCE_S
            if polled.stuck:
                return
    raise LogTimeout(f"nothing is heard of {place.topic}/{place.partition} from offset {first} to {last}")


def _cut(records: Sequence[Record], bytes_max: int) -> Iterator[Chunk]:
    begin, size = 0, 0
    for number, record in enumerate(records):
        weight = record_weight(record.key(), record.value(), headers_told(record).headers)
        if number > begin and size + weight > bytes_max:
            yield Chunk(records[begin:number], record.offset())
            begin, size = number, 0
        size += weight
    if begin < len(records):
        yield Chunk(records[begin:], records[-1].offset() + 1)
