"""Totals of the runner become growth of counters."""

from stream.metrics.prometheus import PrometheusMetrics
from stream.worker.tally import WorkerTally
from tests.stream.metrics.served import values


def test_restarts_of_the_engine_are_counted_once_each() -> None:
    metrics = PrometheusMetrics()
    tally = WorkerTally(metrics, "sim")
    for restarts in (0, 1, 1, 3):
        tally.engine({}, 0, restarts)
    assert values(metrics, "headrace_engine_restarts_total") == {("sim",): 3}
