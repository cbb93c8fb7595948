"""Reading what Prometheus would be told."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.parser import text_string_to_metric_families

from stream.metrics.prometheus import PrometheusMetrics


def samples(metrics: PrometheusMetrics) -> Iterator[tuple[str, dict[str, str], float]]:
    for family in text_string_to_metric_families(metrics.text()):
        for sample in family.samples:
            yield sample.name, sample.labels, sample.value


def value(metrics: PrometheusMetrics, name: str, **labels: str) -> float:
    [found] = [number for named, having, number in samples(metrics) if (named, having) == (name, labels)]
    return found


def values(metrics: PrometheusMetrics, name: str) -> dict[tuple[str, ...], float]:
    """All that is not 0 under a name, by the values of its labels, these in the order of their names."""
    return {
        tuple(text for _, text in sorted(labels.items())): number
        for named, labels, number in samples(metrics)
        if named == name and number
    }
