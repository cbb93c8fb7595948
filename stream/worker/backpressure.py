"""Back-pressure: which partitions are read, decided by the room in their ledgers, with hysteresis.

A pause drops what was prefetched, so a partition is resumed only once half of its room is free.
"""

from __future__ import annotations

from stream.log.base import LogConsumer
from stream.worker.limits import WorkerLimits
from stream.worker.owned_partitions import OwnedPartitions
from stream.worker.single_file import SingleFile


class Backpressure:
    """Pauses and resumes. Quarantined partitions are not its business."""

    def __init__(
        self,
        share: OwnedPartitions,
        consumer: LogConsumer,
        rules: WorkerLimits,
        open_records_max: int,
        single_file: SingleFile,
    ) -> None:
        self._share = share
        self._single_file = single_file
        self._consumer = consumer
        self._rules = rules
        # An assignment may come inside the poll that it bounds: its partitions have that much room.
        self._records_max = min(rules.poll_records_max, open_records_max)
        self._pause_room = max(1, min(rules.pause_room, open_records_max // 8))
        self._resume_room = max(self._pause_room, open_records_max // 2)
        self._ahead_max = rules.single_file_ahead_records_max
        #: Reads nothing at all any more.
        self.stopped = False

    @property
    def records_max(self) -> int:
        """Records of the next poll that fit wherever they come from; 1 where nothing should come.

        An assignment may come inside the poll, and its partitions may go single file: few come before that is known.
        """
        rooms = [book.room for place, book in self._share.ledgers.items() if place not in self._share.paused]
        if self._single_file.on:
            return 1
        if not rooms:
            return min(self._records_max, self._ahead_max)
        return max(1, min(self._records_max, *rooms))

    @property
    def pressed(self) -> bool:
        """Some partition is nearly full, and a commit would free half of it: better than a pause."""
        return any(
            book.room < self._pause_room and 2 * len(book.ready) >= len(book.open)
            for book in self._share.ledgers.values()
        )

    def control(self) -> None:
        """Pause what is full, resume what has room again."""
        too_much = self.stopped or self._holds_too_much()
        alone = self._single_file.on
        if alone:
            self._single_file.look()
        full, free = [], []
        for place, book in self._share.ledgers.items():
            if self._share.still.holds(place):
                continue
            enough = too_much or (alone and self._single_file.has_enough(book))
            if place in self._share.paused:
                if not enough and book.room >= self._resume_room:
                    free.append(place)
            elif enough or book.room < self._pause_room:
                full.append(place)
        if full:
            self._share.paused.update(full)
            self._consumer.pause(full)
        if free:
            self._share.paused.difference_update(free)
            self._consumer.resume(free)

    def _holds_too_much(self) -> bool:
        """With the hysteresis that the recount gives: it is taken only when the running count is over the limit."""
        if self._share.open_bytes <= self._rules.open_bytes_max:
            return False
        return self._share.count_open_bytes() > self._rules.open_bytes_max // 2
