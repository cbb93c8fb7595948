"""Retention that is quicker than a running role: what is gone is counted and logged, and the rest is read."""

from __future__ import annotations

import logging

import pytest

from schemas.lane import Lane
from schemas.source import Source
from stream.dispatcher.loop import Dispatcher
from stream.errors import LedgerBroken
from stream.log.base import Output, Partition
from stream.metrics.base import NoMetrics
from stream.metrics.names import MetricName
from tests.stream.dispatcher.stage import INPUT, QUICK, Stage, line
from tests.stream.worker.house import House

PLACE = Partition(INPUT, 0)


class Counting(NoMetrics):
    """Metrics that remember the gap."""

    gap: float = 0

    def count(self, name: MetricName, amount: float = 1, **labels: str) -> None:
        self.gap += amount if name == "headrace_gap_records_total" else 0


def turn(made: Dispatcher, times: int = 6) -> None:
    for _ in range(times):
        made.turn()


def test_a_running_dispatcher_counts_what_was_deleted_before_it_read_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    metrics = Counting()
    stage = Stage(metrics=metrics)
    made = stage.dispatcher()
    turn(made, 3)
    stage.send(*[line(custom_id=str(number)) for number in range(10)])
    stage.admin.delete_records({PLACE: 7}, 1)
    turn(made, 6)
    made.close()
    assert [work.source.offset for work in stage.work] == [7, 8, 9]
    assert metrics.gap == 7
    [told] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "offsets 0 to 6 were deleted before they were read" in told.message


def test_a_partition_that_is_emptied_goes_on_with_the_next_record() -> None:
    metrics = Counting()
    stage = Stage(metrics=metrics)
    made = stage.dispatcher()
    turn(made, 3)
    stage.send(*[line()] * 4)
    stage.admin.delete_records({PLACE: 4}, 1)
    turn(made, 4)
    stage.send(line())
    turn(made, 4)
    made.close()
    assert [work.source.offset for work in stage.work] == [4]
    assert metrics.gap == 4


def test_gaps_of_markers_and_aborted_records_are_not_counted() -> None:
    metrics = Counting()
    stage = Stage(metrics=metrics)
    made = stage.dispatcher()
    made.turn()
    producer = stage.log.producer("somebody")
    producer.start(1)
    producer.publish([Output(INPUT, None, line(), [], 0)], [], None)
    stage.send(line())
    turn(made, 6)
    made.close()
    assert len(stage.work) == 2
    assert metrics.gap == 0


def test_a_log_that_ends_before_the_position_ends_the_process() -> None:
    stage = Stage(rules=QUICK)
    stage.send(*[line()] * 5)
    made = stage.dispatcher()
    turn(made, 3)
    stage.admin.delete([INPUT], 1)
    stage.topic(INPUT, 8)
    with pytest.raises(LedgerBroken, match="before offset 5"):
        turn(made)


def test_a_running_worker_counts_what_was_deleted_before_it_read_it() -> None:
    metrics = Counting()
    house = House(slots=4)
    worker = house.worker(metrics=metrics)
    worker.turn(3)
    sources: list[Source] = house.put(10)
    place = Partition(house.work_topic(Lane.BATCH), 0)
    house.log.admin().delete_records({place: 7}, 1)
    worker.turn(10, step_s=0.2)
    assert metrics.gap == 7
    assert set(house.outputs_of()) == set(map(str, sources[7:]))
