"""A work partition that the client cannot read on: what is open there ends, the others flow."""

from __future__ import annotations

from schemas.lane import Lane
from stream.log.base import Partition
from stream.metrics.prometheus import PrometheusMetrics
from stream.worker.heartbeat import heartbeat
from tests.stream.metrics.served import values
from tests.stream.worker.house import House


def test_what_was_read_before_it_is_answered_and_the_rest_when_it_can_be_read() -> None:
    house, metrics = House(), PrometheusMetrics()
    place = Partition(house.work_topic(Lane.BATCH), 0)
    before, broken, after = house.put(3), house.put(2), house.put(2)
    other = house.put(2, partition=1)
    house.log.damage(place, 4, 5)
    worker = house.worker(metrics=metrics).turn(40)
    assert house.outputs_of() == {str(source): 1 for source in [*before, *other]}
    assert values(metrics, "headrace_quarantined") == {("bad_compression", "partition"): 1}
    more = house.put(2, partition=1)
    worker.turn(20)
    house.log.repair(place)
    worker.turn(300)
    everything = [*before, *broken, *after, *other, *more]
    assert house.outputs_of() == {str(source): 1 for source in everything}
    assert values(metrics, "headrace_quarantined") == {}
    worker.close()


def test_the_heartbeat_names_it_and_why() -> None:
    house = House()
    place = Partition(house.work_topic(Lane.BATCH), 0)
    house.put(2)
    house.log.damage(place, 0, 1)
    worker = house.worker().turn(10)
    beat = heartbeat(
        worker.share, worker="w", endpoint="sim", slots=1, at_ms=0, state="running", sources_max=1
    )
    assert beat.set_aside == {f"{place.topic}/0": "it does not unpack"}
    assert beat.quarantined == 1
    worker.close()


def test_running_calls_of_it_end_and_its_map_says_what_is_open() -> None:
    house = House()
    place = Partition(house.work_topic(Lane.BATCH), 0)
    first, second = house.put(2)
    house.put(2)
    house.log.damage(place, 3, 4)
    worker = house.worker(auto=False).turn(6)
    worker.runner.end(second)
    worker.turn(6)
    found = house.committed()
    assert found is not None
    assert (found.base, found.incomplete) == (0, (0,))
    worker.runner.end(first)
    worker.turn(6)
    assert house.outputs_of() == {str(first): 1, str(second): 1}
    worker.close()
