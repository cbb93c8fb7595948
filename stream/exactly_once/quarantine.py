"""Partitions in quarantine are looked at again: one is trusted only when somebody wrote anew what is committed of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import NamedTuple

from stream.log.base import Committed, LogAdmin, LogConsumer, Partition, Watermarks

_LOG = logging.getLogger(__name__)


class Readable(NamedTuple):
    """A partition that can be trusted by now."""

    #: The offset to read on from.
    begin: int
    #: Its role takes it over. Done last: where anything before fails, it is looked at again.
    own: Callable[[], None]


#: What a role thinks of a partition; None: it cannot be trusted.
Judge = Callable[[Partition, Committed | None, Watermarks], Readable | None]


def look_at_quarantined(
    consumer: LogConsumer,
    admin: LogAdmin,
    distrusted: Mapping[Partition, tuple[int, str] | None],
    judge: Judge,
    ask_s: float,
) -> None:
    """`distrusted`: what was committed of each when it was set aside. LogError: nobody can say now, so later.

    An offset beyond the end of its log must not become sound because the end grows: unchanged, it is not judged anew.
    """
    places = list(distrusted)
    if not places:
        return
    found = consumer.committed(places, ask_s)
    marks = admin.watermarks(places, ask_s)
    for place in places:
        if found[place] == distrusted[place]:
            continue
        readable = judge(place, found[place], marks[place])
        if readable is not None:
            _LOG.warning("%s/%d is read again, from offset %d", *place, readable.begin)
            consumer.seek(place, readable.begin)
            consumer.resume([place])
            readable.own()
