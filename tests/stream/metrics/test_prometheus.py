"""What Prometheus sees of the metrics."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stream.metrics.by_partition import PartitionLevels
from stream.metrics.names import METRICS
from stream.metrics.prometheus import PrometheusMetrics
from tests.stream.metrics.served import samples, value


def fill(metrics: PrometheusMetrics) -> None:
    """One report of every metric in the table."""
    for name, metric in METRICS.items():
        reports: dict[str, Callable[..., None]] = {
            "counter": metrics.count,
            "gauge": metrics.level,
            "histogram": metrics.observe,
        }
        reports[metric.kind](name, 1, **dict.fromkeys(metric.labels, "x"))


def test_every_metric_of_the_table_can_be_reported_and_is_served() -> None:
    metrics = PrometheusMetrics()
    fill(metrics)
    seen = {name for name, _, _ in samples(metrics)}
    for name, metric in METRICS.items():
        assert (name if metric.kind != "histogram" else f"{name}_bucket") in seen


def test_counts_add_up_and_levels_replace() -> None:
    metrics = PrometheusMetrics()
    for amount in (2, 3):
        metrics.count("headrace_tokens_total", amount, endpoint="e", kind="input")
        metrics.level("headrace_inflight", amount, endpoint="e", lane="batch")
    assert value(metrics, "headrace_tokens_total", endpoint="e", kind="input") == 5
    assert value(metrics, "headrace_inflight", endpoint="e", lane="batch") == 3


def test_levels_of_partitions_that_went_elsewhere_are_served_no_more() -> None:
    metrics = PrometheusMetrics()
    lag = PartitionLevels(metrics, "headrace_lag_records", "headrace_offset_map_chars")
    lag.tell({("in", 0): 50, ("in", 1): 7})
    metrics.level("headrace_offset_map_chars", 9, topic="in", partition="0")
    lag.tell({("in", 1): 8})
    told = [
        (labels["partition"], level)
        for name, labels, level in samples(metrics)
        if name.endswith(("_records", "_chars"))
    ]
    assert told == [("1", 8)]


def test_a_label_that_is_a_python_keyword_can_be_given() -> None:
    metrics = PrometheusMetrics()
    metrics.count("headrace_dead_letters_total", 1, **{"class": "invalid", "stage": "validate"})
    labels = {"class": "invalid", "stage": "validate"}
    assert value(metrics, "headrace_dead_letters_total", **labels) == 1


def test_a_time_falls_into_its_bucket() -> None:
    metrics = PrometheusMetrics()
    metrics.observe("headrace_transaction_seconds", 0.009, role="worker")
    assert value(metrics, "headrace_transaction_seconds_bucket", role="worker", le="0.005") == 0
    assert value(metrics, "headrace_transaction_seconds_bucket", role="worker", le="0.01") == 1
    assert value(metrics, "headrace_transaction_seconds_sum", role="worker") == pytest.approx(0.009)


def test_two_of_them_in_one_process_share_nothing() -> None:
    one, other = PrometheusMetrics(), PrometheusMetrics()
    one.count("headrace_restarts_total", role="worker")
    assert "headrace_restarts_total{" in one.text()
    assert "headrace_restarts_total{" not in other.text()


def test_a_missing_or_foreign_label_is_a_programmers_error() -> None:
    with pytest.raises(ValueError, match="label"):
        PrometheusMetrics().count("headrace_tokens_total", endpoint="e")
    with pytest.raises(ValueError, match="label"):
        PrometheusMetrics().count("headrace_engine_repeats_total", colour="red")
