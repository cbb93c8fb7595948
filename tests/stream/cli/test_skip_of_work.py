"""Going on after a batch of a work partition: what is open before it stays open and has its one output."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from schemas.dead_letter import parse_dead_letter
from schemas.lane import Lane
from stream.cli.setaside.skip import skip
from stream.log.base import Output, Partition
from stream.log.memory_consumer import MemoryConsumer
from tests.stream.cli.test_skip import listed
from tests.stream.worker.house import House


def test_open_records_below_a_skipped_batch_of_a_work_partition_stay_open_and_are_answered() -> None:
    house = House(session_timeout_s=0.02)
    place = Partition(house.work_topic(Lane.BATCH), 0)
    first, second = house.put(2)
    broken = house.put(2)
    after = house.put(2)
    house.log.damage(place, 3, 4)
    worker = house.worker(auto=False).turn(6)
    worker.runner.end(second)
    worker.turn(6)
    consumer = worker.sockets.consumer
    assert isinstance(consumer, MemoryConsumer)
    consumer.kill()
    [found] = listed(house)
    assert (found.first, found.last) == (3, 4)
    done = skip(house.log, house.settings, place, 3, 4)
    assert (done.group, done.dead_letters, done.unread) == ("headrace.worker.sim", 2, 0)
    dead = [parse_dead_letter(r.key(), r.value(), r.headers()) for r in house.dead_letters]
    assert [letter.source for letter in dead] == broken
    house.worker().turn(60)
    assert house.outputs_of() == {str(source): 1 for source in [first, second, *broken, *after]}


def test_a_running_worker_keeps_what_runs_and_goes_on_after_a_skip() -> None:
    house = House(session_timeout_s=0.5)
    place = Partition(house.work_topic(Lane.BATCH), 0)
    before, broken, after = house.put(3), house.put(2), house.put(2)
    house.log.damage(place, 4, 5)
    worker = house.worker().turn(20)
    with ThreadPoolExecutor(1) as beside:
        skipped = beside.submit(skip, house.log, house.settings, place, 4, 5)
        while not skipped.done():
            worker.turn(1)
        assert skipped.result().dead_letters == 2
    worker.turn(60)
    assert house.outputs_of() == {str(source): 1 for source in [*before, *broken, *after]}
    worker.close()


def test_outputs_are_written_by_records_of_nobody_too() -> None:
    house = House(session_timeout_s=0.02)
    topic = house.work_topic(Lane.BATCH)
    plain = house.log.plain_producer()
    plain.send(Output(topic, b"k", b"not ours", [], 0))
    house.log.damage(Partition(topic, 0), 0, 0)
    skip(house.log, house.settings, Partition(topic, 0), 0, 0)
    [dead] = [parse_dead_letter(r.key(), r.value(), r.headers()) for r in house.dead_letters]
    assert str(dead.source) == f"{topic}/0/0"
