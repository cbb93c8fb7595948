"""Reading: polled records become outputs of the batch; what cannot be judged yet waits, its partition alone."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from schemas.errors import RegistryUnavailable
from stream.dispatcher.assignment import Assignment
from stream.dispatcher.batch import Batches
from stream.dispatcher.dependencies import DispatcherDependencies
from stream.dispatcher.position import Position, Waiting
from stream.dispatcher.router import Router
from stream.errors import LogTimeout
from stream.log.base import Partition, Record
from stream.log.overtaken import Overtaken
from stream.retry import doubled_s

log = logging.getLogger(__name__)


class Intake:
    """Fills the batch. Records that wait are at most what one poll gave, for their partition is paused at once."""

    def __init__(
        self, owned: Assignment, router: Router, batches: Batches, parts: DispatcherDependencies
    ) -> None:
        self._owned = owned
        self._consumer = owned.consumer
        self._router = router
        self._batches = batches
        self._rules = parts.rules
        self._clock_s = parts.clock_s
        self._now_ms = parts.now_ms
        self._paused = False
        self._waiting: set[Partition] = set()
        self._overtaken = Overtaken(self._consumer, owned.next_of, owned.count_gap, parts.clock_s)

    def read(self, records_max: int, timeout_s: float) -> None:
        """One poll, and what waited long enough; `timeout_s` is shortened for those that wait."""
        if self._paused:
            self._paused = False
            self._consumer.resume([p.partition for p in self._owned.positions.values() if self._flows(p)])
        self._retry_waiting()
        self._poll(records_max, min(timeout_s, self._next_try_s()))

    def serve(self, timeout_s: float) -> None:
        """Callbacks only: the batch must go first."""
        if not self._paused:
            self._paused = True
        # Again each time: a rebalance may have brought partitions that nobody paused.
        self._consumer.pause(list(self._owned.positions))
        self._poll(1, timeout_s)

    def _poll(self, records_max: int, timeout_s: float) -> None:
        self._overtaken.read_on()
        polled = self._consumer.poll(records_max, timeout_s)
        self._overtaken.note(polled.overtaken)
        if polled.records:
            self._take(polled.records)
        for topic, partition, offset in polled.ends:
            position = self._taking(Partition(topic, partition))
            if position is not None:
                position.end(offset)
        if polled.stuck:
            self._owned.note_stuck(polled.stuck)

    def _take(self, records: Sequence[Record]) -> None:
        """The hot path: no object of ours for a record but its output."""
        self._router.next_batch(self._now_ms())
        route = self._router.route
        batch = self._batches.reading
        add_record, add_output = batch.records.append, batch.outputs.append
        position: Position | None = None
        topic, number = "", -1
        for record in records:
            if record.partition() != number or record.topic() != topic:
                topic, number = record.topic(), record.partition()
                position = self._taking(Partition(topic, number))
            if position is None or position.set_aside is not None:
                continue
            if position.waiting is not None:
                position.waiting.records.append(record)
                continue
            offset = record.offset()
            try:
                output = route(record, position.inlet, position.origin)
            except (RegistryUnavailable, LogTimeout) as cause:
                self._wait(position, record, str(cause))
                continue
            if offset == position.next_seen:
                position.next_seen = offset + 1
            else:
                position.deliver(offset)
            add_record(record)
            add_output(output)
        batch.with_headers |= self._router.met_headers

    def _wait(self, position: Position, record: Record, cause: str) -> None:
        log.warning("%s/%d waits at offset %d: %s", *position.partition, record.offset(), cause)
        position.waiting = Waiting(cause, self._clock_s() + self._rules.wait_s)
        position.waiting.records.append(record)
        self._waiting.add(position.partition)
        self._consumer.pause([position.partition])

    def _next_try_s(self) -> float:
        positions = self._owned.positions
        tries = [p.waiting.again_s for p in map(positions.get, self._waiting) if p is not None and p.waiting]
        return max(0.0, min(tries) - self._clock_s()) if tries else self._rules.poll_s

    def _retry_waiting(self) -> None:
        for partition in list(self._waiting):
            position = self._owned.positions.get(partition)
            if position is None or position.waiting is None:
                self._waiting.discard(partition)
            elif position.waiting.again_s <= self._clock_s():
                self._router.next_batch(self._now_ms())
                self._retry(position, position.waiting)

    def _retry(self, position: Position, waiting: Waiting) -> None:
        position.waiting = None
        batch = self._batches.reading
        while waiting.records:
            record = waiting.records[0]
            try:
                output = self._router.route(record, position.inlet, position.origin)
            except (RegistryUnavailable, LogTimeout):
                self._wait_longer(position, waiting)
                return
            position.deliver(record.offset())
            batch.records.append(waiting.records.popleft())
            batch.outputs.append(output)
            batch.with_headers |= self._router.met_headers
            waiting.tries = 1
        self._waiting.discard(position.partition)
        if self._flows(position):
            self._consumer.resume([position.partition])
        if waiting.end is not None:
            position.end(waiting.end)

    def _wait_longer(self, position: Position, waiting: Waiting) -> None:
        waiting.tries += 1
        pause_s = doubled_s(self._rules.wait_s, self._rules.wait_max_s, waiting.tries)
        waiting.again_s = self._clock_s() + pause_s
        position.waiting = waiting

    def _taking(self, place: Partition) -> Position | None:
        """The position of what came; None: it is not ours, or stands still."""
        position = self._owned.positions.get(place)
        return position if position is not None and self._owned.still.takes(place) else None

    def _flows(self, position: Position) -> bool:
        held = position.set_aside is not None or position.waiting is not None
        return not held and not self._owned.still.holds(position.partition)
