"""What is done now and then on the Kafka thread: heartbeats, levels, lag, trimming, a look at what is quarantined.

None of it may stop the worker: an answer that does not come is logged, and asked for again next time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from schemas.heartbeat import Heartbeat
from stream.errors import ClientSilent, LogError
from stream.exactly_once.ledger import LedgerLimits
from stream.exactly_once.quarantine import Readable, look_at_quarantined
from stream.log.base import Committed, LogAdmin, LogConsumer, Partition, Watermarks
from stream.log.plain import PlainProducer
from stream.metrics.base import Metrics
from stream.metrics.by_partition import PartitionLevels
from stream.worker.assignment import position_of
from stream.worker.heartbeat import heartbeat_record
from stream.worker.limits import WorkerLimits
from stream.worker.owned_partitions import OwnedPartitions

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TaskClients:
    """What the chores ask."""

    consumer: LogConsumer
    admin: LogAdmin
    plain: PlainProducer


class Every:
    """Something to do every so many seconds, the first time after one interval."""

    def __init__(self, interval_s: float, act: Callable[[], None]) -> None:
        self._interval_s = interval_s
        self._act = act
        self._due_s: float | None = None

    def tick(self, now_s: float) -> bool:
        """Do it if it is due; True if it was."""
        if self._due_s is None:
            self._due_s = now_s + self._interval_s
        if now_s < self._due_s:
            return False
        self._due_s = now_s + self._interval_s
        try:
            self._act()
        except ClientSilent:
            raise
        except LogError as error:
            _LOG.warning("a chore is put off: %s", error)
        return True


class PeriodicTasks:
    """Each has its own interval; at most one that asks the broker is done in a turn."""

    def __init__(  # noqa: PLR0913 - its parts, by name
        self,
        *,
        share: OwnedPartitions,
        clients: TaskClients,
        limits: LedgerLimits,
        rules: WorkerLimits,
        clock_s: Callable[[], float],
        metrics: Metrics,
        workers_topic: str,
        beat: Callable[[], Heartbeat],
        levels: Callable[[], None],
        hot: Callable[[], None],
    ) -> None:
        self._share = share
        self._clients = clients
        self._limits = limits
        self._rules = rules
        self._clock_s = clock_s
        self._lag = PartitionLevels(metrics, "headrace_lag_records", "headrace_offset_map_chars")
        self._workers_topic = workers_topic
        self._beat = beat
        self._levels = levels
        self._trimmed: dict[Partition, int] = {}
        self._light = Every(rules.heartbeat_s, self.beat)
        self._hot = Every(rules.lag_every_s, hot)
        self._asking = (
            Every(rules.stuck_every_s, self._try_stuck),
            Every(rules.quarantine_every_s, self._look_at_quarantined),
            Every(rules.lag_every_s, self._measure_lag),
            Every(rules.coordinator_every_s, self._ask_coordinator),
            Every(rules.trim_every_s, self._trim),
        )

    def tick(self, now_s: float) -> None:
        """Once a turn."""
        self._light.tick(now_s)
        self._hot.tick(now_s)
        any(chore.tick(now_s) for chore in self._asking)

    def beat(self) -> None:
        """Tell the others, and the metrics, how things are."""
        self._clients.plain.send(heartbeat_record(self._workers_topic, self._beat()))
        self._clients.plain.flush(0)
        self._levels()

    def _measure_lag(self) -> None:
        ledgers = self._share.ledgers
        ends = self._clients.admin.stable_ends(list(ledgers), self._rules.chore_timeout_s)
        self._lag.tell(
            {place: len(book.open) + max(0, ends[place] - book.next_seen) for place, book in ledgers.items()}
        )

    def _ask_coordinator(self) -> None:
        """A client that has lost its coordinator is told of by nobody while nothing is to be done."""
        one = list(self._share.ledgers)[:1]
        if one:
            self._clients.consumer.committed(one, self._rules.chore_timeout_s)

    def _trim(self) -> None:
        """Delete what lies below our own confirmed base: it is answered, and work topics have no retention."""
        ledgers = self._share.ledgers
        self._trimmed = {place: at for place, at in self._trimmed.items() if place in ledgers}
        below = {
            place: book.committed[0]
            for place, book in ledgers.items()
            if book.committed is not None and book.committed[0] > self._trimmed.get(place, 0)
        }
        if below:
            self._clients.admin.delete_records(below, self._rules.chore_timeout_s)
            self._trimmed.update(below)

    def _try_stuck(self) -> None:
        """Whether the client can read on by now what it could not."""
        now_s = self._clock_s()
        for place in self._share.still.due(now_s):
            self._clients.consumer.seek(place, self._share.ledgers[place].next_seen)
            self._share.paused.discard(place)
            self._clients.consumer.resume([place])
            self._share.still.tried(place)

    def _look_at_quarantined(self) -> None:
        """An operator may have reset it: then it is read on from there."""
        distrusted = {place: aside.committed for place, aside in self._share.quarantined.items()}
        ask_s = self._rules.chore_timeout_s
        look_at_quarantined(self._clients.consumer, self._clients.admin, distrusted, self._judge, ask_s)

    def _judge(self, place: Partition, found: Committed | None, marks: Watermarks) -> Readable | None:
        position = position_of(place, found, marks, self._limits)
        if position.ledger is None:
            return None
        return Readable(position.begin, partial(self._share.own, place, position.ledger))
