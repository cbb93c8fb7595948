"""How often a record's engine died under it: who is a suspect, who is poison."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schemas.source import Source

#: Records remembered; only those in the runner and recently cancelled ones have deaths, so this is never near.
DEATHS_MAX: Final = 4_096


class Deaths:
    """Deaths per record in this process. One more than innocent chance allows: alone. One more, alone: proof."""

    def __init__(self, poison_deaths_max: int) -> None:
        self._poison_deaths_max = poison_deaths_max
        self._count: dict[Source, int] = {}

    def __bool__(self) -> bool:
        return bool(self._count) or self._poison_deaths_max <= 1

    def died(self, sources: Iterable[Source]) -> None:
        """The engine died while these ran."""
        for source in sources:
            self._count[source] = self._count.pop(source, 0) + 1
        while len(self._count) > DEATHS_MAX:
            del self._count[next(iter(self._count))]

    def cleared(self, source: Source) -> None:
        """It ended, and the engine lived."""
        self._count.pop(source, None)

    def count(self, source: Source) -> int:
        return self._count.get(source, 0)

    def must_run_alone(self, source: Source) -> bool:
        """So that the next death is certainly its own."""
        return self.count(source) >= self._poison_deaths_max - 1

    def is_poison(self, source: Source) -> bool:
        """The last of its deaths was alone: only who must run alone can get here."""
        return self.count(source) >= self._poison_deaths_max
