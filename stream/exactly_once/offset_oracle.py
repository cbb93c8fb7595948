"""The oracle of roles that commit offsets: what the group has committed, with its map, is what was published."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from stream.exactly_once.offset_map import OffsetMap, decode
from stream.log.base import LogConsumer, OffsetCommit, Partition
from stream.retry import retry_until

#: The map was written by us a moment ago: the log end need not be asked for.
_ANY_LOG_END: Final = 2**63


class OffsetOracle:
    """Stable offsets: an open transaction on them is waited for."""

    def __init__(self, consumer: LogConsumer, clock_s: Callable[[], float]) -> None:
        self._consumer = consumer
        self._clock_s = clock_s

    def committed(
        self, offsets: Sequence[OffsetCommit], deadline_s: float
    ) -> Mapping[Partition, OffsetMap | None]:
        """The map of each partition among `offsets`; None: nothing was ever committed. LogTimeout, MapUnreadable."""
        partitions = [Partition(each.topic, each.partition) for each in offsets]
        if not partitions:
            return {}
        found = retry_until(
            lambda try_s: self._consumer.committed(partitions, try_s), deadline_s, self._clock_s
        )
        return {
            partition: None if position is None else decode(position.metadata, position.offset, _ANY_LOG_END)
            for partition, position in ((p, found.get(p)) for p in partitions)
        }
