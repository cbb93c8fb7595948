"""What lies behind open transactions: it is there, and no reader sees it until they end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from stream.cli.finding.outputs import output_topics
from stream.client.group_position import ASK_S
from stream.config.settings import Settings
from stream.log.base import LogAdmin, Partition
from stream.topics.served import input_topics, work_topics

#: So many partitions are named in a line.
NAMED_MAX: Final = 3


def held(admin: LogAdmin, places: Sequence[Partition], ask_s: float = ASK_S) -> dict[Partition, int]:
    """Offsets between the last stable offset and the high watermark, where there are some: an upper bound of records.

    The ends are asked for last, so that what was ended meanwhile does not count.
    """
    marks, ends = admin.watermarks(places, ask_s), admin.stable_ends(places, ask_s)
    return {place: marks[place].high - ends[place] for place in places if marks[place].high > ends[place]}


def held_words(found: Mapping[Partition, int]) -> str:
    """Which partitions hold how much, and where to read on."""
    named = [f"{topic}/{number} holds {count}" for (topic, number), count in list(found.items())[:NAMED_MAX]]
    more = f" (and {len(found) - NAMED_MAX} partitions more)" if len(found) > NAMED_MAX else ""
    words = f"{', '.join(named)} records at most behind an open transaction{more}"
    return f"{words} (docs/operations.md, hanging transactions)"


def served_topics(settings: Settings, topics: Mapping[str, int]) -> list[str]:
    """Inputs, work topics, and where outputs go."""
    return list(
        dict.fromkeys(
            [
                *input_topics(settings, topics),
                *work_topics(settings, topics),
                *output_topics(settings, topics),
            ]
        )
    )
