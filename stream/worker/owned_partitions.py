"""The worker's share of the work topics: what belongs to the partitions it owns now."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import NamedTuple

from schemas.lane import LANES, Lane
from stream.exactly_once.ready_answers import ReadyAnswers
from stream.exactly_once.session_order import SessionOrder
from stream.exactly_once.transaction import Ledger
from stream.exactly_once.work_item import WorkItem
from stream.log.base import Partition
from stream.log.blocked_partitions import BlockedPartitions


class Quarantine(NamedTuple):
    """Why a partition is not read, in words, and what was committed then: an operator changes that."""

    reason: str
    committed: tuple[int, str] | None
    #: A label for it.
    cause: str = "map"


class OwnedPartitions:
    """Ledgers, orders and queues. Every queue holds open records only, so K bounds them all."""

    def __init__(self, *, serial: bool = False) -> None:
        self._serial = serial
        self.ledgers: dict[Partition, Ledger] = {}
        self.orders: dict[Partition, SessionOrder[WorkItem]] = {}
        self.quarantined: dict[Partition, Quarantine] = {}
        #: What the client cannot read on: their ledgers stay, and what is open there goes on.
        self.still = BlockedPartitions()
        #: Full, and not read until there is room again. An assignment resumes all that it gives.
        self.paused: set[Partition] = set()
        #: May start as soon as a slot is free.
        self.waiting: dict[Lane, deque[WorkItem]] = {lane: deque() for lane in LANES}
        #: Partitions that wait for the schema registry, with what would have started there, in order.
        self.stalled: dict[Partition, deque[WorkItem]] = {}
        #: Handed over, by call id.
        self.running: dict[str, WorkItem] = {}
        self.ready = ReadyAnswers()
        #: Bytes that open records hold; counted anew when it seems too much.
        self.open_bytes = 0
        #: An assignment has happened: the group knows us.
        self.joined = False

    def own(self, partition: Partition, ledger: Ledger) -> None:
        self.ledgers[partition] = ledger
        self.orders[partition] = SessionOrder(serial=self._serial)
        self.quarantined.pop(partition, None)
        self.paused.discard(partition)
        self.still.forget([partition])

    def drop(self, partitions: Collection[Partition]) -> list[Ledger]:
        """No longer ours: nothing of them waits, starts or is published any more. Gives their ledgers."""
        dropped = [book for p in partitions if (book := self.ledgers.pop(p, None)) is not None]
        for partition in partitions:
            self.orders.pop(partition, None)
            self.quarantined.pop(partition, None)
        self.paused.difference_update(partitions)
        self.still.forget(partitions)
        for book in dropped:
            self.ready.remove(book.ready.values())
            for record in book.open.values():
                record.ledger = None
        for lane, queue in self.waiting.items():
            self.waiting[lane] = deque(record for record in queue if record.ledger is not None)
        return dropped

    def next_of(self, partition: Partition) -> int | None:
        """The offset that is read next; None: not ours, or not read."""
        ledger = self.ledgers.get(partition)
        return None if ledger is None else ledger.next_seen

    @property
    def held_bytes(self) -> int:
        """Of finished answers that wait for an elder of their session."""
        return sum(order.finished_bytes for order in self.orders.values())

    @property
    def waiting_count(self) -> int:
        return sum(map(len, self.waiting.values()))

    def weigh(self, record: WorkItem, weight: int) -> None:
        """`record` is open now."""
        record.weight = weight
        self.open_bytes += weight

    def count_open_bytes(self) -> int:
        """What all open records hold, counted anew."""
        self.open_bytes = sum(
            record.weight for book in self.ledgers.values() for record in book.open.values()
        )
        return self.open_bytes
