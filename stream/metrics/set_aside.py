"""What is set aside, by its cause: causes that are over go back to 0."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from stream.metrics.base import Metrics


class SetAsideLevels:
    """One process's `headrace_quarantined` of one kind."""

    def __init__(self, metrics: Metrics, kind: Literal["partition", "topic"]) -> None:
        self._metrics = metrics
        self._kind = kind
        self._told: set[str] = set()

    def tell(self, causes: Iterable[str]) -> None:
        """One for each that is set aside now."""
        counts = Counter(causes)
        self._told |= counts.keys()
        for cause in self._told:
            self._metrics.level("headrace_quarantined", counts[cause], kind=self._kind, cause=cause)
