"""The groupless reader of the log in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stream.errors import LogError
from stream.log.base import Partition, Polled, Record
from stream.log.memory.broker import MemoryBroker
from stream.log.memory.cursor import MemoryCursor

_BATCH_RECORDS = 1_000


class MemoryReader:
    """A `LogReader`."""

    def __init__(
        self, broker: MemoryBroker, begin: Sequence[str] | Mapping[Partition, int], *, careful: bool = False
    ) -> None:
        self._broker = broker
        self._cursor = MemoryCursor(broker, careful=careful)
        with broker.changed:
            self._cursor.positions = dict(begin) if isinstance(begin, Mapping) else self._look_up(begin)

    def poll(self, records_max: int, timeout_s: float) -> Polled:
        deadline = self._broker.clock() + timeout_s
        with self._broker.changed:
            while True:
                polled = self._cursor.fetch(records_max)
                left = deadline - self._broker.clock()
                if any(polled) or left <= 0:
                    return polled
                self._broker.changed.wait(min(left, 0.05))

    def to_end(self, timeout_s: float) -> Iterator[Record]:  # noqa: ARG002  (memory answers at once)
        with self._broker.changed:
            found: list[Record] = []
            while (polled := self._cursor.fetch(_BATCH_RECORDS)).records:
                found += polled.records
        yield from found
        if polled.stuck:
            raise LogError(str(polled.stuck[0]))

    def close(self) -> None:
        """Nothing is held."""

    def _look_up(self, topics: Sequence[str]) -> dict[Partition, int]:
        if missing := [name for name in topics if name not in self._broker.topics]:
            raise LogError(f"no topic {missing[0]!r}")
        counts = self._broker.counts()
        return {Partition(name, number): 0 for name in topics for number in range(counts[name])}
