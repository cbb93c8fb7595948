"""How many dead letters there are."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Final

from stream.cli.standing import ASK_S, partitions_of
from stream.config.settings import Settings
from stream.log.base import Log

#: Up to so many offsets the records are counted one by one: transaction markers take offsets too.
COUNTED_MAX: Final = 20_000
COUNT_S: Final = 10.0


def count_dead_letters(log: Log, settings: Settings, topics: Mapping[str, int]) -> int:
    """Exact for a topic of up to COUNTED_MAX offsets, above it the number of offsets (an upper bound)."""
    admin = log.admin()
    places = partitions_of(topics, [settings.outputs.dead_letters])
    marks, ends = admin.watermarks(places, ASK_S), admin.stable_ends(places, ASK_S)
    begin = {place: marks[place].low for place in places if marks[place].low < ends[place]}
    offsets = sum(ends[place] - low for place, low in begin.items())
    if not 0 < offsets <= COUNTED_MAX:
        return offsets
    with closing(log.reader(begin)) as reader:
        return sum(1 for _ in reader.to_end(COUNT_S))
