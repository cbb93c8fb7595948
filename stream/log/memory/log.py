"""The log in this process: Kafka's semantics for tests, with faults on demand and without waiting.

It keeps what exactly-once rests on: transactions with markers that take offsets, the last stable offset, fencing,
generations, static members, offsets with their maps inside transactions. What it leaves out: prefetching, compaction,
retention, replication, time-outs of transactions (see `end_transaction`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from stream.log.base import Assignor, Partition
from stream.log.memory.admin import MemoryAdmin
from stream.log.memory.broker import Fault, MemoryBroker
from stream.log.memory.consumer import MemoryConsumer
from stream.log.memory.group import Clock
from stream.log.memory.partition import Damage
from stream.log.memory.producer import MemoryPlainProducer, MemoryProducer
from stream.log.memory.reader import MemoryReader
from stream.log.plain import DELIVERY_S_MAX

__all__ = ["Fault", "MemoryLog"]


class MemoryLog:
    """A `Log`. Its clients may live in several threads."""

    def __init__(self, *, session_timeout_s: float = 8.0, clock: Clock = time.monotonic) -> None:
        self._broker = MemoryBroker(session_timeout_s, clock)

    def consumer(
        self,
        group: str,
        instance_id: str | None = None,
        *,
        assignor: Assignor = "range",
        regex_refresh_ms: int = 3_000,  # noqa: ARG002  (new topics are seen at once)
    ) -> MemoryConsumer:
        with self._broker.changed:
            return MemoryConsumer(self._broker, group, instance_id, assignor)

    def producer(self, transactional_id: str, *, batch_bytes_max: int = 1_000_000) -> MemoryProducer:  # noqa: ARG002
        with self._broker.changed:
            return MemoryProducer(self._broker, transactional_id)

    def admin(self) -> MemoryAdmin:
        return MemoryAdmin(self._broker)

    def plain_producer(self, delivery_s_max: float = DELIVERY_S_MAX) -> MemoryPlainProducer:  # noqa: ARG002
        return MemoryPlainProducer(self._broker)

    def reader(
        self, begin: Sequence[str] | Mapping[Partition, int], *, careful: bool = False
    ) -> MemoryReader:
        return MemoryReader(self._broker, begin, careful=careful)

    def damage(self, place: Partition, first: int, last: int, *, room: bool = True) -> None:
        """For tests: these records are in one batch that does not come out; with `room` only a careful reader unpacks it."""
        with self._broker.changed:
            self._broker.topics[place.topic].partitions[place.partition].damages.append(
                Damage(first, last, room)
            )

    def repair(self, place: Partition) -> None:
        """For tests: all of it can be read again."""
        with self._broker.changed:
            self._broker.topics[place.topic].partitions[place.partition].damages.clear()
            self._broker.changed.notify_all()

    def inject(self, transactional_id: str, *faults: Fault) -> None:
        """For tests: one fault for each of the next publishes under this id."""
        with self._broker.changed:
            self._broker.coordinator(transactional_id).faults.extend(faults)

    def end_transaction(self, transactional_id: str) -> None:
        """For tests: `transaction.timeout.ms` passed, the broker aborts and fences the epoch."""
        with self._broker.changed:
            coordinator = self._broker.coordinator(transactional_id)
            self._broker.end(coordinator, commit=False)
            coordinator.expire()

    def deny(self, topic: str, operation: str = "Write") -> None:
        """For tests: nobody may do this with the topic from now on. Writing fails, all is told (`may_on_topics`)."""
        with self._broker.changed:
            self._broker.denied.add((topic, operation))

    def allow(self, topic: str, operation: str = "Write") -> None:
        with self._broker.changed:
            self._broker.denied.discard((topic, operation))
