"""An unknown outcome becomes known: a new producer ends the old transaction, then the committed map is the oracle."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from stream.errors import LogTimeout
from stream.exactly_once.offset_map import OffsetMap, decode
from stream.log.base import LogConsumer, LogProducer, Partition

#: Longer than the transaction timeout, the broker's sweep and a coordinator's move together.
RECONCILE_S_MAX: Final = 120.0
#: One try of a call.
TRY_S: Final = 30.0
#: The map was written by us a moment ago: the log end need not be asked for.
_ANY_LOG_END: Final = 2**63

_LOG = logging.getLogger(__name__)
T = TypeVar("T")


def reconcile(
    producer: LogProducer, consumer: LogConsumer, partitions: Sequence[Partition], clock: Callable[[], float]
) -> Mapping[Partition, OffsetMap | None]:
    """What is committed now. None: nothing ever was.

    Raises LogFenced (a twin owns the slot), LogTimeout after RECONCILE_S_MAX, MapUnreadable: all end the process.
    """
    deadline_s = clock() + RECONCILE_S_MAX
    patiently(producer.start, deadline_s, clock)
    if not partitions:
        return {}
    found = patiently(lambda try_s: consumer.committed(partitions, try_s), deadline_s, clock)
    return {
        partition: None if position is None else decode(position.metadata, position.offset, _ANY_LOG_END)
        for partition, position in ((p, found.get(p)) for p in partitions)
    }


def patiently(call: Callable[[float], T], deadline_s: float, clock: Callable[[], float]) -> T:
    """Repeat a call that may time out, until `deadline_s` of the clock; then LogTimeout comes out."""
    while True:
        left_s = deadline_s - clock()
        try:
            return call(max(1.0, min(TRY_S, left_s)))
        except LogTimeout as error:
            if clock() >= deadline_s:
                raise
            _LOG.warning("asking again: %s", error)
