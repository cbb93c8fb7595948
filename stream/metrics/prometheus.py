"""Metrics kept for Prometheus, in a registry of their own: two of them in one process never meet."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from stream.metrics.buckets import BUCKETS_S
from stream.metrics.names import METRICS, MetricName


class PrometheusMetrics:
    """All metrics of the table. A wrong kind or label is a programmer's error: KeyError, ValueError."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        self._counters = {name: self._counter(name) for name in _of_kind("counter")}
        self._gauges = {name: self._gauge(name) for name in _of_kind("gauge")}
        self._histograms = {name: self._histogram(name) for name in _of_kind("histogram")}

    def count(self, name: MetricName, amount: float = 1, **labels: str) -> None:
        self._counters[name].labels(**labels).inc(amount)

    def level(self, name: MetricName, value: float, **labels: str) -> None:
        self._gauges[name].labels(**labels).set(value)

    def forget(self, name: MetricName, **labels: str) -> None:
        """A level of these labels is served no more."""
        self._gauges[name].remove_by_labels(labels)

    def observe(self, name: MetricName, seconds: float, **labels: str) -> None:
        self._histograms[name].labels(**labels).observe(seconds)

    def text(self) -> str:
        """All of it in Prometheus' text format."""
        return generate_latest(self.registry).decode("utf-8")

    def _counter(self, name: MetricName) -> Counter:
        metric = METRICS[name]
        return Counter(name, metric.meaning, metric.labels, registry=self.registry)

    def _gauge(self, name: MetricName) -> Gauge:
        metric = METRICS[name]
        return Gauge(name, metric.meaning, metric.labels, registry=self.registry)

    def _histogram(self, name: MetricName) -> Histogram:
        metric = METRICS[name]
        return Histogram(name, metric.meaning, metric.labels, registry=self.registry, buckets=BUCKETS_S[name])


def _of_kind(kind: str) -> list[MetricName]:
    return [name for name, metric in METRICS.items() if metric.kind == kind]
