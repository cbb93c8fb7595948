"""What the roles report to, without knowing who listens."""

from __future__ import annotations

from typing import Protocol

from stream.metrics.names import MetricName


class Metrics(Protocol):
    """Counts, levels and times; a level that nobody keeps up is to be forgotten.

    Callers on hot paths add up a batch first and report once.
    """

    def count(self, name: MetricName, amount: float = 1, **labels: str) -> None: ...
    def level(self, name: MetricName, value: float, **labels: str) -> None: ...
    def forget(self, name: MetricName, **labels: str) -> None: ...
    def observe(self, name: MetricName, seconds: float, **labels: str) -> None: ...


class NoMetrics:
    """Nobody listens: for tests and one-shot commands."""

    def count(self, name: MetricName, amount: float = 1, **labels: str) -> None:
        """Dropped."""

    def level(self, name: MetricName, value: float, **labels: str) -> None:
        """Dropped."""

    def forget(self, name: MetricName, **labels: str) -> None:
        """Dropped."""

    def observe(self, name: MetricName, seconds: float, **labels: str) -> None:
        """Dropped."""
