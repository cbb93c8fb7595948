"""A session that fills a partition is counted and logged, never by its name."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from cache.session_key import session_hash
from stream.config.settings import Limits
from stream.metrics.prometheus import PrometheusMetrics
from stream.worker.hot_sessions import LOG_EVERY_S
from tests.stream.metrics.served import value
from tests.stream.worker.house import House

SECRET = "customer-4711"
HALF = 10


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if "more than half" in record.getMessage()]


@pytest.mark.parametrize("order", ["session", "serial", "none"])
def test_it_is_counted_and_logged_by_its_hash_once_a_minute(
    order: str, caplog: pytest.LogCaptureFixture
) -> None:
    house, metrics = House(order=order, limits=Limits(open_records_max=2 * HALF)), PrometheusMetrics()
    house.put(HALF + 1, session=SECRET)
    house.put(HALF - 1, session="other", partition=1)
    worker = house.worker(auto=False, metrics=metrics)
    with caplog.at_level(logging.WARNING):
        worker.turn(30, step_s=1.0)
        assert told(caplog) == [
            f"session {session_hash('sim', 'acme', SECRET)} has {HALF + 1} unfinished records in"
            " headrace.work.sim.batch/0, more than half of its bound"
        ]
        worker.turn(int(LOG_EVERY_S), step_s=1.0)
        assert len(told(caplog)) == 2
    assert SECRET not in caplog.text
    assert hot(metrics) == 1


def test_many_sessions_that_fill_a_partition_are_not_hot(caplog: pytest.LogCaptureFixture) -> None:
    house, metrics = House(limits=Limits(open_records_max=2 * HALF)), PrometheusMetrics()
    for name in ("a", "b"):
        house.put(HALF, session=name)
    house.worker(auto=False, metrics=metrics).turn(30, step_s=1.0)
    assert told(caplog) == []
    assert hot(metrics) == 0


def hot(metrics: PrometheusMetrics) -> Any:
    return value(metrics, "headrace_hot_sessions", endpoint="sim")
