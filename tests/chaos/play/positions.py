"""Committed offsets, maps and ends of partitions, read from outside and past the proxy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from confluent_kafka import ConsumerGroupTopicPartitions, IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from stream.errors import MapUnreadable
from stream.ledger.offset_map import decode
from tests.chaos.check.evidence import Ends, Place, Progress

TIMEOUT_S: Final = 10.0
#: The checker judges a map by itself; where the log ends is another invariant's business.
LOG_END_MAX: Final = 2**62


class Positions:
    """One admin client. What it raises while the broker is down is KafkaException."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._admin = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})

    def committed(self, group: str) -> dict[Place, tuple[int, str]]:
        """Plain (not stable) offsets with their metadata: what a fence would read."""
        asked = self._admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group)], request_timeout=TIMEOUT_S
        )
        found = asked[group].result(TIMEOUT_S).topic_partitions
        return {(p.topic, p.partition): (p.offset, p.metadata or "") for p in found if p.offset >= 0}

    def partitions(self, topics: Iterable[str] | None = None) -> list[Place]:
        """All partitions of `topics` (default: of every topic, internal ones too)."""
        every = self._admin.list_topics(timeout=TIMEOUT_S).topics
        names = every.keys() if topics is None else topics
        return [(name, number) for name in names if name in every for number in every[name].partitions]

    def ends(self, places: Iterable[Place]) -> dict[Place, Ends]:
        wanted = list(places)
        stable = self._list(wanted, IsolationLevel.READ_COMMITTED)
        high = self._list(wanted, IsolationLevel.READ_UNCOMMITTED)
        return {place: Ends(stable[place], high[place]) for place in wanted}

    def _list(self, places: list[Place], isolation: IsolationLevel) -> Mapping[Place, int]:
        request: dict[Any, Any] = {TopicPartition(*place): OffsetSpec.latest() for place in places}
        asked = self._admin.list_offsets(request, isolation_level=isolation, request_timeout=TIMEOUT_S)
        return {(p.topic, p.partition): done.result(TIMEOUT_S).offset for p, done in asked.items()}


def progress_of(offset: int, metadata: str) -> Progress:
    """A committed offset and its map as the set of what is done; an unreadable map crashes the checker."""
    try:
        offsets = decode(metadata, offset, LOG_END_MAX)
    except MapUnreadable as error:
        raise AssertionError(f"a role committed a map that cannot be read: {error}") from error
    above = range(offsets.base, offsets.hi + 1)
    return Progress(offset, frozenset(above).difference(offsets.incomplete))
