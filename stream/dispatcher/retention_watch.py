"""The alarm before an input's retention is faster than we are: a level, and a line in the log at the half of it."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from itertools import chain

from stream.dispatcher.assignment import Assignment
from stream.dispatcher.batch import Batches
from stream.dispatcher.dependencies import DispatcherDependencies
from stream.dispatcher.retention import Half, Oldest, first_written_ms, in_words, retention_ms, used
from stream.errors import LogError, LogTimeout
from stream.log.base import LogAdmin, Partition, TopicDescription
from stream.metrics.by_partition import PartitionLevels
from stream.retry import doubled_s

log = logging.getLogger(__name__)


class RetentionWatch:
    """Looks at the records that were read and are not committed. Where a retention is unknown nothing is reported."""

    def __init__(
        self, owned: Assignment, batches: Batches, admin: LogAdmin, parts: DispatcherDependencies
    ) -> None:
        self._owned = owned
        self._batches = batches
        self._admin = admin
        self._parts = parts
        self._levels = PartitionLevels(parts.metrics, "headrace_retention_used_ratio")
        self._oldest = Oldest()
        self._half = Half()
        self._kept_ms: dict[str, int] = {}
        #: Topics whose retention we may not know: said once.
        self._hidden: set[str] = set()
        self._asked: set[str] = set()
        self._next_s = 0.0
        #: Questions in a row that the broker was too slow for.
        self._slow = 0

    def look(self, waiting: Collection[Partition]) -> None:
        """`waiting`: the partitions of ours with something that is not committed."""
        self._read_retention()
        now_ms = self._parts.now_ms()
        oldest = self._oldest.look(waiting, self._written_ms(), now_ms)
        ratios = {
            place: used(oldest.get(place), now_ms, self._kept_ms[place.topic])
            for place in self._owned.positions
            if place.topic in self._kept_ms
        }
        self._levels.tell(ratios)
        self._say(ratios, {place: now_ms - ms for place, ms in oldest.items()})

    def _written_ms(self) -> Mapping[Partition, int]:
        """In the order of their way: sent, read, and those that cannot be judged yet."""
        held = chain.from_iterable(p.waiting.records for p in self._owned.positions.values() if p.waiting)
        return first_written_ms(chain(self._batches.sending.records, self._batches.reading.records, held))

    def _read_retention(self) -> None:
        """At its interval, and when a topic comes to us; a broker that is too slow is asked less and less often."""
        topics = {place.topic for place in self._owned.positions}
        if self._parts.clock_s() < self._next_s and topics <= self._asked:
            return
        rules, now = self._parts.rules, self._parts.clock_s()
        self._next_s = now + rules.retention_every_s
        self._asked = topics
        try:
            found = self._admin.describe(sorted(topics), rules.lag_timeout_s)
        except LogError as error:
            log.warning("the retention of the inputs is not known, asking again later: %s", error)
            if isinstance(error, LogTimeout):
                self._slow += 1
                self._next_s = now + doubled_s(rules.lag_every_s, rules.retention_every_s, self._slow)
            return
        self._slow = 0
        self._kept_ms = {
            name: kept_ms
            for name, topic in found.items()
            if topic is not None and (kept_ms := self._kept_by(topic)) is not None
        }

    def _kept_by(self, topic: TopicDescription) -> int | None:
        kept_ms = retention_ms(topic)
        if kept_ms is None and topic.name not in self._hidden:
            self._hidden.add(topic.name)
            log.warning(
                "retention.ms of %s may not be read: no alarm at the half of it. Allow DescribeConfigs on the topic",
                topic.name,
            )
        return kept_ms

    def _say(self, ratios: Mapping[Partition, float], ages_ms: Mapping[Partition, int]) -> None:
        crossed = self._half.look(ratios)
        for place in crossed.past:
            log.warning(
                "%s/%d: the oldest record that is not committed is %s old, and the topic keeps records for %s "
                "(retention.ms): it will be deleted unread. Find out why it waits (`headrace status`, the lines above: "
                "schema registry, quarantine, too few dispatchers), or raise retention.ms of the topic now",
                *place,
                in_words(ages_ms[place]),
                in_words(self._kept_ms[place.topic]),
            )
        for place in crossed.back:
            log.warning("%s/%d: well again, nothing that waits is near the end of its retention", *place)
