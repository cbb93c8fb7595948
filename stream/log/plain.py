"""Sending plainly: no transaction, each record delivered or reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from stream.log.base import Output


class Delivery(NamedTuple):
    """Where a plain record went; `offset` -1 and an `error` where it did not."""

    topic: str
    partition: int
    offset: int
    error: str | None


#: Of a record that is sent plainly, where nobody says otherwise.
DELIVERY_S_MAX: Final = 30.0


class PlainProducer(Protocol):
    """Not transactional, idempotent: heartbeats, the command line, the producers of tests."""

    def send(self, output: Output, on_delivery: Callable[[Delivery], None] | None = None) -> None:
        """Buffer it; waits (bounded) only while the buffer is full. LogError when refused at once."""

    def flush(self, timeout_s: float) -> int:
        """Deliver what is buffered and serve the callbacks; gives how many are still under way."""

    def close(self) -> None: ...
