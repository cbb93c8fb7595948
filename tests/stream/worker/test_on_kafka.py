"""The whole worker on a real Kafka, with the simulated engine."""

from __future__ import annotations

import dataclasses
import time

import pytest

from schemas.heartbeat import read_heartbeat
from schemas.lane import LANES, Lane
from stream.log.base import Partition
from tests.stream.worker.installation import QUICK, Installation

pytestmark = pytest.mark.broker

PATIENCE_S = 60.0


class Crash(BaseException):
    """Stands for SIGKILL: nothing is committed or left after it."""


def test_every_record_of_every_lane_is_answered_once(installation: Installation) -> None:
    sources = [source for lane in LANES for source in installation.put(150, lane=lane)]
    installation.start()
    installation.await_outputs(sources)
    installation.end_cleanly()


@pytest.mark.parametrize("point", ["done", "begun", "produced", "offsets_sent", "committed"])
def test_a_crash_at_any_point_of_the_commit_loses_and_repeats_nothing(
    installation: Installation, point: str
) -> None:
    sources = (
        installation.put(40) + installation.put(10, session="s") + installation.put(5, lane=Lane.INTERACTIVE)
    )
    left = [7 if point == "done" else 2]

    def reach(name: str) -> None:
        if name == point:
            left[0] -= 1
            if left[0] == 0:
                raise Crash

    installation.start(reach=reach)
    installation.workers[0][1].join(120)
    assert [type(error) for error in installation.errors] == [Crash]
    installation.start()
    installation.await_outputs(sources)


def test_workers_that_join_and_leave_with_work_in_flight(installation: Installation) -> None:
    slow = installation.put(6, simulate="sleep:3")
    quick = installation.put(60) + installation.put(10, session="s")
    first = installation.start(0)
    time.sleep(2)
    installation.start(1)
    more = installation.put(60)
    time.sleep(4)
    first.set()
    more += installation.put(30, lane=Lane.INTERACTIVE)
    installation.await_outputs(slow + quick + more, timeout_s=120)
    assert not installation.errors


def test_work_topics_are_trimmed_below_the_confirmed_base(installation: Installation) -> None:
    sources = installation.put(40)
    installation.start()
    installation.await_outputs(sources)
    places = [Partition(installation.settings.work_topic("sim", Lane.BATCH), p) for p in (0, 1)]
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        marks = installation.log.admin().watermarks(places, 30)
        if all(mark.low == mark.high for mark in marks.values()):
            break
        time.sleep(0.2)
    assert all(mark.low == mark.high > 0 for mark in marks.values())


def test_heartbeats_say_what_the_worker_does(installation: Installation) -> None:
    # Longer than anybody waits for the heartbeat; a stop does not wait for its end.
    installation.put(1, simulate="sleep:300")
    installation.start(rules=dataclasses.replace(QUICK, drain_s=0.5))
    topic = installation.settings.own_topic("workers")
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        reader = installation.log.reader([topic])
        beats = [read_heartbeat(record.value() or b"") for record in reader.to_end(30)]
        reader.close()
        if any(beat.running["batch"] for beat in beats):
            break
        time.sleep(0.2)
    busy = next(beat for beat in beats if beat.running["batch"])
    assert busy.sources == ["input/0/0"]
    assert busy.partitions == [0, 1]
