"""A batch that the client cannot read: its partition alone stands still, is told of, and goes on when it can."""

from __future__ import annotations

import logging
import random

import pytest

from stream.dispatcher.loop import Dispatcher
from stream.log.base import Partition
from stream.metrics.prometheus import PrometheusMetrics
from tests.stream.dispatcher.stage import INPUT, Stage, line
from tests.stream.metrics.served import values

GOOD = line()
PLACE = Partition(INPUT, 0)
STUCK = ("bad_compression", "partition")


def turn(stage: Stage, made: Dispatcher, seconds: float = 0, times: int = 4) -> None:
    stage.seconds += seconds
    for _ in range(times):
        made.turn()


def bombed(stage: Stage) -> Dispatcher:
    """Two good records, a batch of three that does not unpack, two good ones; and one on another partition."""
    stage.send(*[GOOD] * 7)
    stage.send(GOOD, partition=1)
    stage.log.damage(PLACE, 2, 4)
    made = stage.dispatcher()
    turn(stage, made)
    return made


def sources(stage: Stage) -> list[tuple[int, int]]:
    return [(work.source.partition, work.source.offset) for work in stage.work]


def test_what_stands_before_it_and_on_other_partitions_is_committed_and_it_is_loud(
    caplog: pytest.LogCaptureFixture,
) -> None:
    metrics = PrometheusMetrics()
    stage = Stage(metrics=metrics)
    made = bombed(stage)
    assert sources(stage) == [(0, 0), (0, 1), (1, 0)]
    found = stage.committed[PLACE]
    assert found is not None
    assert found.offset == 2
    assert values(metrics, "headrace_quarantined") == {STUCK: 1}
    said = [r.getMessage() for r in caplog.records if r.levelno == logging.ERROR]
    assert len(said) == 1
    assert f"{INPUT}/0 cannot be read at offset 2: it does not unpack" in said[0]
    made.close()


def test_it_is_tried_again_and_said_once() -> None:
    metrics = PrometheusMetrics()
    stage = Stage(metrics=metrics)
    made = bombed(stage)
    for _ in range(30):
        turn(stage, made, 1)
    assert sources(stage) == [(0, 0), (0, 1), (1, 0)]
    stage.log.repair(PLACE)
    turn(stage, made, 10)
    made.close()
    stage.assert_each_input_has_one_output()
    assert values(metrics, "headrace_quarantined") == {}


def test_records_sent_while_it_stands_still_flow_on_other_partitions() -> None:
    stage = Stage()
    made = bombed(stage)
    stage.send(GOOD, partition=1)
    stage.send(GOOD)
    turn(stage, made, 1)
    assert sources(stage) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    made.close()


def test_a_start_finds_it_again_and_the_mended_one_has_each_output_once() -> None:
    stage = Stage()
    bombed(stage).close()
    again = stage.dispatcher()
    turn(stage, again)
    assert list(again._owned.still.troubles) == [PLACE]
    stage.log.repair(PLACE)
    turn(stage, again, 10)
    again.close()
    stage.assert_each_input_has_one_output()


@pytest.mark.parametrize("seed", range(60))
def test_whatever_breaks_and_is_mended_in_whatever_order_each_input_has_one_output(seed: int) -> None:
    rng = random.Random(seed)
    stage = Stage()
    made = stage.dispatcher()
    for _ in range(40):
        act = rng.choice(["send", "damage", "repair", "turn", "turn", "turn", "restart"])
        if act == "send":
            stage.send(*[rng.choice([GOOD, b"bad"])] * rng.randrange(1, 4), partition=rng.randrange(2))
        elif act == "damage":
            end = stage.admin.stable_ends([PLACE], 1)[PLACE]
            first = rng.randrange(end + 1)
            stage.log.damage(PLACE, first, first + rng.randrange(3))
        elif act == "repair":
            stage.log.repair(PLACE)
        elif act == "restart":
            made.close()
            made = stage.dispatcher()
        turn(stage, made, rng.choice([0, 0.5, 3]), 1)
    stage.log.repair(PLACE)
    for _ in range(12):
        turn(stage, made, 10)
    made.close()
    stage.assert_each_input_has_one_output()
