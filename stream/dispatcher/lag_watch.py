"""How far the inputs are ahead of us, looked at now and then."""

from __future__ import annotations

import logging

from stream.dispatcher.assignment import Assignment
from stream.dispatcher.batch import Batches
from stream.dispatcher.dependencies import DispatcherDependencies
from stream.dispatcher.retention_watch import RetentionWatch
from stream.errors import LogError
from stream.log.base import LogAdmin
from stream.metrics.by_partition import PartitionLevels

log = logging.getLogger(__name__)


class LagWatch:
    """Reports records not yet committed, one question to Kafka for all partitions, and what retention leaves them."""

    def __init__(
        self, owned: Assignment, batches: Batches, admin: LogAdmin, parts: DispatcherDependencies
    ) -> None:
        self._owned = owned
        self._admin = admin
        self._parts = parts
        self._levels = PartitionLevels(parts.metrics, "headrace_lag_records")
        self._retention = RetentionWatch(owned, batches, admin, parts)
        self._next_s = 0.0

    def look(self) -> None:
        """Ask, where it is time to; a broker that does not answer is asked again later."""
        now = self._parts.clock_s()
        if now < self._next_s:
            return
        rules = self._parts.rules
        self._next_s = now + rules.lag_every_s
        positions = dict(self._owned.positions)
        try:
            marks = self._admin.watermarks(list(positions), rules.lag_timeout_s)
        except LogError:
            # Silent, or a topic is gone: its partitions are taken from us at the next rebalance.
            return
        lags = {
            place: max(0, marks[place].high - max(position.committed, marks[place].low))
            for place, position in positions.items()
        }
        self._levels.tell(lags)
        self._retention.look([place for place, lag in lags.items() if lag])
