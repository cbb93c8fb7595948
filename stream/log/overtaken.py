"""Partitions whose next offset is gone: retention was quicker than the reader. What was lost is counted and logged."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Final

from stream.errors import LedgerBroken, LogTimeout
from stream.log.base import LogConsumer, Partition

ASK_S: Final = 5.0
#: A broker that does not answer is asked again so late.
AGAIN_S: Final = 1.0

_LOG = logging.getLogger(__name__)


class Overtaken:
    """Reads on where the log begins now. Belongs to the thread of the consumer."""

    def __init__(
        self,
        consumer: LogConsumer,
        next_of: Callable[[Partition], int | None],
        count: Callable[[Partition, int], None],
        clock_s: Callable[[], float],
    ) -> None:
        """`next_of`: the offset that was to be read next; None: the partition is not ours. `count`: offsets lost."""
        self._consumer = consumer
        self._next_of = next_of
        self._count = count
        self._clock_s = clock_s
        self._partitions: set[Partition] = set()
        self._again_s = 0.0

    def note(self, partitions: Iterable[Partition]) -> None:
        """As a poll told them."""
        self._partitions.update(partitions)

    def read_on(self) -> None:
        """Once a turn. LedgerBroken: the log ends before our offset; it is another topic, or was cut back."""
        if not self._partitions or self._clock_s() < self._again_s:
            return
        for partition in list(self._partitions):
            try:
                self._mend(partition)
            except LogTimeout as silent:
                _LOG.warning("%s: where it begins now is not known yet: %s", partition, silent)
                self._again_s = self._clock_s() + AGAIN_S
                return
            self._partitions.discard(partition)

    def _mend(self, partition: Partition) -> None:
        offset = self._next_of(partition)
        if offset is None:
            return
        low, end = self._consumer.watermarks(partition, ASK_S)
        if offset > end:
            words = f"{partition}: the log ends at {end}, before offset {offset}"
            raise LedgerBroken(f"{words}: the topic was recreated, or cut back")
        if offset < low:
            _LOG.error("%s: offsets %d to %d were deleted before they were read", partition, offset, low - 1)
            self._count(partition, low - offset)
        self._consumer.seek(partition, max(offset, low))
