"""What surrounds a batch: tests hand in their own."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from stream.log.base import Log
from stream.run_batch.answers import Answers
from stream.run_batch.feeder import Feeder
from stream.run_batch.in_order import InOrder
from stream.run_batch.quiet import Quiet
from stream.run_batch.show import Show
from stream.run_batch.state import State


class Keep(Protocol):
    """Where the state is kept."""

    def write(self, state: State) -> None: ...


@dataclass(frozen=True, slots=True)
class BatchDependencies:
    """What surrounds a batch."""

    log: Log
    feeder: Feeder
    answers: Answers
    #: None: the order in which they come.
    in_order: InOrder | None
    keep: Keep
    show: Show
    quiet: Quiet
    #: Raises where the batch's own installation has died (StreamError), or somebody wants an end (KeyboardInterrupt).
    check: Callable[[], None] = lambda: None
    clock_s: Callable[[], float] = time.monotonic
