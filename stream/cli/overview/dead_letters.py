"""How many dead letters there are, and how many of them are open."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Final, NamedTuple

from schemas import headers as names
from stream.client.group_position import ASK_S, partitions_of
from stream.config.settings import Settings
from stream.log.base import Log, Record
from stream.log.readable import safe_headers
from stream.replay.markers import Markers

#: Up to so many offsets the records are counted one by one: transaction markers take offsets too.
COUNTED_MAX: Final = 20_000
COUNT_S: Final = 10.0


class DeadLetters(NamedTuple):
    """`open`: nothing was decided about them, neither a replay nor an end."""

    all: int
    open: int


def count_dead_letters(log: Log, settings: Settings, topics: Mapping[str, int]) -> DeadLetters:
    """Exact for a topic of up to COUNTED_MAX offsets, above it the number of offsets (an upper bound)."""
    admin = log.admin()
    places = partitions_of(topics, [settings.outputs.dead_letters])
    marks, ends = admin.watermarks(places, ASK_S), admin.stable_ends(places, ASK_S)
    begin = {place: marks[place].low for place in places if marks[place].low < ends[place]}
    offsets = sum(ends[place] - low for place, low in begin.items())
    if not offsets:
        return DeadLetters(0, 0)
    markers = Markers(log, settings)
    if settings.own_topic("replays") in topics:
        markers.read()
    if offsets > COUNTED_MAX:
        return DeadLetters(offsets, max(0, offsets - sum(1 for _ in markers.places)))
    with closing(log.reader(begin)) as reader:
        open_ = [_is_open(record, markers) for record in reader.to_end(COUNT_S)]
    return DeadLetters(len(open_), open_.count(True))


def _is_open(record: Record, markers: Markers) -> bool:
    """Also one of a newer version; a foreign record has no source."""
    place = f"{record.partition()}/{record.offset()}"
    headers = safe_headers(record) or ()
    sources = (value for name, value in headers if name == names.SOURCE and value is not None)
    return any(markers.at(place, source.decode("utf-8", "replace")) is None for source in sources)
