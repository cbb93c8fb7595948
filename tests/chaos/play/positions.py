"""Committed offsets, maps and ends of partitions, read from outside and past the proxy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from confluent_kafka import Consumer, TopicPartition

from stream.errors import MapUnreadable
from stream.exactly_once.offset_map import decode
from tests.chaos.check.evidence import Ends, Place, Progress

TIMEOUT_S: Final = 10.0
#: Nobody asks again for the end of a partition.
END_TIMEOUT_S: Final = 60.0
#: The checker judges a map by itself; where the log ends is another invariant's business.
LOG_END_MAX: Final = 2**62


class Positions:
    """What it raises while the broker is down is KafkaException.

    Consumers that never join do the asking: librdkafka 2.16 ends the whole process on a failed assertion
    (`rd_kafka_enq_once_del_source_return`) when the broker goes while its admin client waits for a coordinator.
    """

    def __init__(self, bootstrap_servers: str) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._groups: dict[str, Consumer] = {}
        self._stable = self._consumer("chaos-positions", "read_committed")
        self._high = self._consumer("chaos-positions", "read_uncommitted")

    def committed(self, group: str, places: Iterable[Place]) -> dict[Place, tuple[int, str]]:
        """Plain (not stable) offsets with their metadata: what a fence would read."""
        if group not in self._groups:
            self._groups[group] = self._consumer(group, "read_uncommitted")
        asked = [TopicPartition(*place) for place in places]
        found = self._groups[group].committed(asked, TIMEOUT_S) if asked else []
        return {(p.topic, p.partition): (p.offset, p.metadata or "") for p in found if p.offset >= 0}

    def partitions(self, topics: Iterable[str] | None = None) -> list[Place]:
        """All partitions of `topics` (default: of every topic, internal ones too)."""
        every = self._high.list_topics(timeout=TIMEOUT_S).topics
        names = every.keys() if topics is None else topics
        return [(name, number) for name in names if name in every for number in every[name].partitions]

    def ends(self, places: Iterable[Place]) -> dict[Place, Ends]:
        """The last stable offset first, so that a quiet partition shows equal ends."""
        return {place: Ends(self._end(self._stable, place), self._end(self._high, place)) for place in places}

    def high(self, place: Place) -> int:
        return self._end(self._high, place)

    def _end(self, consumer: Consumer, place: Place) -> int:
        answer = consumer.get_watermark_offsets(TopicPartition(*place), END_TIMEOUT_S)
        if answer is None:
            raise TimeoutError(f"no watermarks of {place} within {END_TIMEOUT_S} s")
        _, end = answer
        return int(end)

    def _consumer(self, group: str, isolation: str) -> Consumer:
        return Consumer(
            {
                "bootstrap.servers": self._bootstrap_servers,
                "group.id": group,
                "isolation.level": isolation,
                "log_level": 0,
            }
        )


def progress_of(offset: int, metadata: str) -> Progress:
    """A committed offset and its map as the set of what is done; an unreadable map crashes the checker."""
    try:
        offsets = decode(metadata, offset, LOG_END_MAX)
    except MapUnreadable as error:
        raise AssertionError(f"a role committed a map that cannot be read: {error}") from error
    above = range(offsets.base, offsets.hi + 1)
    return Progress(offset, frozenset(above).difference(offsets.incomplete))
