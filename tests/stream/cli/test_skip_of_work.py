"""Going on after a batch of a work partition: what is open before it stays open and has its one output."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from schemas.dead_letter import parse_dead_letter
from schemas.lane import Lane
from schemas.source import Source
from stream.cli.quarantined.skip import skip
from stream.cli.quarantined.stuck import StuckPartition
from stream.log.base import Output, Partition
from stream.log.memory.consumer import MemoryConsumer
from tests.stream.cli.test_skip import listed
from tests.stream.worker.house import House, Worker


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


@pytest.mark.parametrize("partition", [0, 1])
def test_a_worker_that_finishes_a_record_while_the_skip_commits_loses_and_repeats_nothing(
    partition: int,
) -> None:
    """What it would commit then is not its own at that moment: the skip owns the partition."""
    house = House(session_timeout_s=5)
    place = Partition(house.work_topic(Lane.BATCH), partition)
    before, broken = house.put(2, partition=partition), house.put(2, partition=partition)
    house.log.damage(place, 3, 4)
    worker = house.worker(auto=False).turn(6)
    under_way, go_on = threading.Event(), threading.Event()

    def wait(point: str) -> None:
        if point == "begun":
            under_way.set()
            assert go_on.wait(60)

    with ThreadPoolExecutor(1) as beside:
        skipped = beside.submit(skip, house.log, house.settings, place, 3, 4, reach=wait)
        while not under_way.is_set():
            worker.turn(1, step_s=0.001)
        worker.runner.end_all()
        worker.turn(20, step_s=0.001)
        go_on.set()
        while not skipped.done():
            worker.turn(1, step_s=0.001)
        assert skipped.result().dead_letters == 2
    worker.turn(20)
    worker.runner.end_all()
    worker.turn(20)
    assert house.outputs_of() == {str(source): 1 for source in [*before, *broken]}
    worker.close()


class Life:
    """A work partition with bombs behind open records, and its worker."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.house = House(session_timeout_s=0.02, poison_deaths_max=1_000)
        self.place = Partition(self.house.work_topic(Lane.BATCH), 0)
        self.sources: list[Source] = []
        self.worker = self.house.worker(auto=False)

    def put(self) -> None:
        self.sources += self.house.put(self.rng.randrange(1, 4))

    def bomb(self) -> None:
        first, many = (
            self.house.log.admin().stable_ends([self.place], 1)[self.place],
            self.rng.randrange(1, 4),
        )
        self.sources += self.house.put(many)
        self.house.log.damage(self.place, first, first + many - 1)

    def end(self) -> None:
        self.worker.runner.end_all()

    def skip(self) -> None:
        for found in listed(self.house):
            skip_beside(self.house, self.worker, found)

    def kill(self) -> None:
        self.worker = replaced(self.house, self.worker, kill=True)

    def leave(self) -> None:
        self.worker = replaced(self.house, self.worker, kill=False)

    def settle(self) -> None:
        for _ in range(40):
            self.skip()
            self.worker.turn(60)
            self.end()
            self.worker.turn(6)
            if self.house.outputs_of().keys() >= set(map(str, self.sources)):
                return


@pytest.mark.parametrize("seed", range(25))
def test_bombs_skips_deaths_and_workers_in_any_order_give_each_record_one_output(seed: int) -> None:
    """Open records, bombs behind them, skips of one or several, and workers that die or leave in between."""
    life = Life(seed)
    acts = [life.put, life.put, life.bomb, life.end, life.end, life.skip, life.kill, life.leave]
    for _ in range(25):
        life.rng.choice(acts)()
        life.worker.turn(life.rng.randrange(1, 6))
    life.settle()
    assert life.house.outputs_of() == {str(source): 1 for source in life.sources}
    life.worker.close()


def skip_beside(house: House, worker: Worker, found: StuckPartition) -> None:
    """The worker turns on meanwhile."""
    with ThreadPoolExecutor(1) as beside:
        skipped = beside.submit(
            skip, house.log, house.settings, found.standing.partition, found.first, found.last
        )
        while not skipped.done():
            worker.turn(1, step_s=0.001)
        skipped.result()


def replaced(house: House, worker: Worker, *, kill: bool) -> Worker:
    if kill:
        consumer = worker.sockets.consumer
        assert isinstance(consumer, MemoryConsumer)
        consumer.kill()
    else:
        worker.runner.end_all()
        worker.close()
    return house.worker(auto=False)
