"""Levels by partition: those of partitions that went elsewhere are forgotten, or two processes would tell of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from stream.metrics.base import Metrics
from stream.metrics.names import MetricName

Place = tuple[str, int]
P = TypeVar("P", bound=Place)


class PartitionLevels:
    """One process's levels of a metric with the labels topic and partition. `also`: metrics that end with it."""

    def __init__(self, metrics: Metrics, name: MetricName, *also: MetricName) -> None:
        self._metrics = metrics
        self._name = name
        self._also = also
        self._told: set[Place] = set()

    def tell(self, levels: Mapping[P, float]) -> None:
        """All that are ours now, and no other."""
        for topic, partition in self._told - levels.keys():
            for name in (self._name, *self._also):
                self._metrics.forget(name, topic=topic, partition=str(partition))
        for (topic, partition), level in levels.items():
            self._metrics.level(self._name, level, topic=topic, partition=str(partition))
        self._told = set[Place](levels)
