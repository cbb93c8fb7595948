"""How far a group is with what was there when somebody began to look, and how long the rest takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from stream.client.group_position import standings
from stream.client.progress import Progress, Tempo
from stream.log.base import LogAdmin, Partition


class Following:
    """Made by `Client.follow`; counts offsets, of which the markers of transactions are a few."""

    def __init__(
        self,
        admin: LogAdmin,
        group: str,
        partitions: Sequence[Partition],
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._admin = admin
        self._group = group
        self._clock_s = clock_s
        found = standings(admin, group, partitions)
        self._ends = {place: position.end for place, position in found.items()}
        self._offsets = sum(position.open_before(position.end) for position in found.values())
        self._done = 0
        self._tempo = Tempo(self._offsets, 0, clock_s())

    def look(self) -> Progress:
        """Done of all, rate and time left now. LogTimeout where the broker does not answer."""
        found = standings(self._admin, self._group, list(self._ends))
        left = sum(position.open_before(self._ends[place]) for place, position in found.items())
        self._done = max(self._done, self._offsets - left)
        return self._tempo.look(self._done, 0, self._clock_s())
