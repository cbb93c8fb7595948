"""How much of its topic's retention has passed over the oldest record of a partition that is not committed.

Decisions alone: `retention_watch` asks Kafka, reports and logs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from stream.log.base import Partition, Record, TopicDescription

#: The operator has as much time left as has passed: from here on it is an alarm …
ALARM_AT: Final = 0.5
#: … and well again below this, so that a level around the half does not fill the log.
WELL_BELOW: Final = 0.4
#: Age deletes nothing.
OFF: Final = -1

_UNITS: Final = (("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000))


def retention_ms(topic: TopicDescription) -> int | None:
    """How long it keeps a record; OFF where age deletes nothing, None where that may not be read."""
    if "delete" not in topic.settings.get("cleanup.policy", "delete"):
        return OFF
    found = topic.settings.get("retention.ms")
    return None if found is None else int(found)


def used(oldest_ms: int | None, now_ms: int, kept_ms: int) -> float:
    """The age of the oldest (None: nothing waits) as a part of the retention: above 1 it may be deleted."""
    if oldest_ms is None or kept_ms == OFF:
        return 0.0
    return max(0, now_ms - oldest_ms) / max(1, kept_ms)


def first_written_ms(records: Iterable[Record]) -> dict[Partition, int]:
    """For each partition among them, in their order: when its first record was written, where that is told."""
    found: dict[Partition, int] = {}
    for record in records:
        place = record.topic(), record.partition()
        if place not in found:
            found[Partition(*place)] = record.timestamp()[1]
    return {place: ms for place, ms in found.items() if ms > 0}


class Oldest:
    """When the oldest record that waits was written, by partition.

    Where it is not read at the moment the last one that was known stands for it (older: the alarm comes early rather than
    late), and where none ever was (a partition set aside, above all) the moment when something was first seen waiting.
    """

    def __init__(self) -> None:
        self._ms: dict[Partition, int] = {}

    def look(
        self, waiting: Collection[Partition], known: Mapping[Partition, int], now_ms: int
    ) -> Mapping[Partition, int]:
        """Of all that wait now, and no other."""
        self._ms = {place: known.get(place, self._ms.get(place, now_ms)) for place in waiting}
        return self._ms


class Crossed(NamedTuple):
    """Partitions that went over the half since the last look, and those that came back."""

    past: list[Partition]
    back: list[Partition]


class Half:
    """Tells each crossing once."""

    def __init__(self) -> None:
        self._past: set[Partition] = set()

    def look(self, ratios: Mapping[Partition, float]) -> Crossed:
        """`ratios` of all partitions that are ours; what is told of one ends when it goes."""
        before = self._past & ratios.keys()
        past = [place for place, ratio in ratios.items() if ratio >= ALARM_AT and place not in before]
        back = [place for place, ratio in ratios.items() if ratio < WELL_BELOW and place in before]
        self._past = before.union(past).difference(back)
        return Crossed(past, back)


def in_words(ms: int) -> str:
    """A length of time in its largest unit: `3.5 days`."""
    for unit, size in _UNITS:
        if ms >= size:
            count = f"{ms / size:.1f}".removesuffix(".0")
            return f"{count} {unit}{'' if count == '1' else 's'}"
    return f"{ms / 1000:g} seconds"
