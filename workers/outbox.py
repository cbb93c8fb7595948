"""Calls that have ended, on their way out of the loop: all of one moment together, with one wake-up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from workers.call import Finished


class Outbox:
    """Belongs to the engine loop; `hand_over` must not block."""

    def __init__(self, hand_over: Callable[[list[Finished]], None]) -> None:
        self._hand_over = hand_over
        self._batch: list[Finished] = []
        self._due = False
        #: Takes one more.
        self.add = self._batch.append
        #: Handed over so far.
        self.count = 0

    def flush(self) -> None:
        """Hand over what is there."""
        self._due = False
        if self._batch:
            batch, self._batch = self._batch, []
            self.add = self._batch.append
            self.count += len(batch)
            self._hand_over(batch)

    def flush_soon(self) -> None:
        """Once the loop has done what is due now: more may end in the same moment."""
        if not self._due:
            self._due = True
            asyncio.get_running_loop().call_soon(self.flush)
