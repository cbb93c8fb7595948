"""The input partitions that are ours: taken over at the committed offset, given up with all that was read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from stream.dispatcher.batch import Batches
from stream.dispatcher.bindings import Bindings, Inlet
from stream.dispatcher.dependencies import DispatcherDependencies
from stream.dispatcher.position import Position
from stream.errors import ClientSilent, LogError, LogTimeout, MapUnreadable, TopicMismatch
from stream.exactly_once.offset_map import decode
from stream.exactly_once.quarantine import Readable, look_at_quarantined
from stream.log.base import Committed, LogAdmin, LogConsumer, Partition, Watermarks
from stream.log.blocked_partitions import BlockedPartitions
from stream.log.stuck import Stuck
from stream.metrics.set_aside import SetAsideLevels
from stream.retry import retry_until

#: Of a partition that is not read.
NOTHING_SAID = Inlet("")

log = logging.getLogger(__name__)
T = TypeVar("T")


class Assignment:
    """The group's callbacks. A partition whose committed metadata cannot be trusted is set aside: paused, not read."""

    def __init__(
        self,
        consumer: LogConsumer,
        admin: LogAdmin,
        bindings: Bindings,
        batches: Batches,
        parts: DispatcherDependencies,
    ) -> None:
        self.consumer = consumer
        self._admin = admin
        self._bindings = bindings
        self._batches = batches
        self._rules = parts.rules
        self._clock_s = parts.clock_s
        self._metrics = parts.metrics
        self._levels = SetAsideLevels(parts.metrics, "partition")
        #: What the client cannot read on.
        self.still = BlockedPartitions()
        self.positions: dict[Partition, Position] = {}
        #: What was committed when it was set aside.
        self._distrusted: dict[Partition, Committed | None] = {}
        self._look_again_s = 0.0
        self._ask_s = self._clock_s() + self._rules.coordinator_every_s
        #: The group has given us something to do, even if it is nothing.
        self.joined = False

    def assigned(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        """Read on at the committed offsets; LogTimeout when they cannot be had: the process must end."""
        self.joined = True
        self.still.forget(partitions)
        committed = self.committed(partitions)
        marks = self._ask(partitions, self._admin.watermarks)
        for partition in partitions:
            position = self._take_over(partition, committed[partition], marks[partition])
            self.positions[partition] = position
            if position.set_aside is None:
                self.consumer.resume([partition])
            else:
                log.error("%s/%d is set aside: %s", *partition, position.set_aside)
                self.consumer.pause([partition])
                self._distrusted[partition] = committed[partition]
        self._report_set_aside()
        return {partition: self.positions[partition].next_seen for partition in partitions}

    def look_again(self) -> None:
        """Now and then, whether what is set aside can be read by now: `headrace quarantine` may have mended it."""
        self._try_stuck()
        now = self._clock_s()
        aside = [place for place, position in self.positions.items() if position.set_aside is not None]
        if not aside or now < self._look_again_s:
            return
        self._look_again_s = now + self._rules.quarantine_every_s
        try:
            distrusted = {partition: self._distrusted[partition] for partition in aside}
            ask_s = self._rules.lag_timeout_s
            look_at_quarantined(self.consumer, self._admin, distrusted, self._judge, ask_s)
        except ClientSilent:
            raise
        except LogError as silent:
            log.warning("what is set aside cannot be looked at now: %s", silent)
        self._report_set_aside()

    def ask_coordinator(self) -> None:
        """Now and then: a client that has lost it is told of by nobody while nothing is to be done."""
        now = self._clock_s()
        if now < self._ask_s or not self.positions:
            return
        self._ask_s = now + self._rules.coordinator_every_s
        try:
            self.consumer.committed(list(self.positions)[:1], self._rules.offsets_try_s)
        except LogTimeout as late:
            log.warning("the coordinator does not answer now: %s", late)

    def _try_stuck(self) -> None:
        """Whether the client can read on by now: it may have more room, the batch may be gone or mended."""
        for place in self.still.due(self._clock_s()):
            position = self.positions[place]
            if position.waiting is not None:  # what was read before it goes first
                continue
            try:
                self.consumer.seek(place, position.next_seen)
            except LogError as error:
                log.warning("%s/%d is tried again later: %s", *place, error)
                self.still.later(place, self._clock_s())
            else:
                self.consumer.resume([place])
                self.still.tried(place)

    def note_stuck(self, stuck: Sequence[Stuck]) -> None:
        """Set aside what cannot be read on: what was read of it is committed, the others flow."""
        for one in stuck:
            place = Partition(one.topic, one.partition)
            if place in self.positions:
                self.consumer.pause([place])
                self.still.note(one, self._clock_s(), self._rules.quarantine_every_s)
        self._report_set_aside()

    def _judge(self, partition: Partition, found: Committed | None, marks: Watermarks) -> Readable | None:
        position = self._take_over(partition, found, marks)
        if position.set_aside is not None:
            return None
        return Readable(position.next_seen, partial(self.positions.__setitem__, partition, position))

    def revoked(self, partitions: Sequence[Partition]) -> None:
        """What was read and is not committed is read again by the next owner: routing costs little."""
        self.lost(partitions)

    def lost(self, partitions: Sequence[Partition]) -> None:
        """Forget them, and never commit them."""
        for partition in partitions:
            self.positions.pop(partition, None)
        self.still.forget(partitions)
        self._batches.lose(set(partitions))
        self._report_set_aside()

    def ends(self) -> dict[Partition, int]:
        """Where the partitions with something to commit stand now."""
        return {at.partition: at.next_seen for at in self.positions.values() if at.dirty}

    def committed(self, partitions: Sequence[Partition]) -> Mapping[Partition, Committed | None]:
        """Stable offsets: an open transaction on them, a dead predecessor's above all, is waited for."""
        return self._ask(partitions, self.consumer.committed)

    def _ask(
        self,
        partitions: Sequence[Partition],
        ask: Callable[[Sequence[Partition], float], Mapping[Partition, T]],
    ) -> Mapping[Partition, T]:
        if not partitions:
            return {}
        until_s = self._clock_s() + self._rules.offsets_s
        return retry_until(partial(ask, partitions), until_s, self._clock_s, self._rules.offsets_try_s)

    def _take_over(self, partition: Partition, found: Committed | None, marks: Watermarks) -> Position:
        try:
            inlet = self._bindings.find(partition.topic)
            offset = self._trusted(found, marks)
        except (MapUnreadable, TopicMismatch) as wrong:
            offset = marks.low if found is None else found.offset
            cause = "map" if isinstance(wrong, MapUnreadable) else "topic"
            return Position(partition, offset, offset, NOTHING_SAID, set_aside=str(wrong), cause=cause)
        return self._begin(partition, inlet, offset, marks.low)

    def _begin(self, partition: Partition, inlet: Inlet, offset: int | None, low: int) -> Position:
        if offset is None:
            # Nothing below the log's start can be visible, so a partition that begins late is no gap.
            return Position(partition, -1 if low else 0, low, inlet)
        if offset < low:
            log.error(
                "%s/%d: offsets %d to %d were deleted before they were read", *partition, offset, low - 1
            )
            self.count_gap(partition, low - offset)
        return Position(partition, offset, max(offset, low), inlet)

    @staticmethod
    def _trusted(found: Committed | None, marks: Watermarks) -> int | None:
        """The committed offset; MapUnreadable where its metadata is not what a dispatcher of this version writes."""
        if found is None:
            return None
        offsets = decode(found.metadata, found.offset, marks.high)
        if offsets.hi >= offsets.base or offsets.trying is not None:
            raise MapUnreadable(
                "the map says that work above the committed offset is done: a later version wrote it"
            )
        return found.offset

    def next_of(self, partition: Partition) -> int | None:
        """The offset that is read next; None: not ours, or not read."""
        position = self.positions.get(partition)
        if position is None or position.set_aside is not None:
            return None
        waiting = position.waiting
        return waiting.records[-1].offset() + 1 if waiting and waiting.records else position.next_seen

    def count_gap(self, partition: Partition, offsets: int) -> None:
        """So many offsets were deleted before they were read."""
        self._metrics.count("headrace_gap_records_total", offsets, topic=partition.topic)

    def _report_set_aside(self) -> None:
        distrusted = [at.cause for at in self.positions.values() if at.set_aside is not None]
        self._levels.tell([*distrusted, *self.still.causes()])
