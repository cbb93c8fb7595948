"""In single file little is read ahead: a process that dies of memory would convict the record that runs."""

from __future__ import annotations

import dataclasses

import pytest

from schemas.lane import Lane
from stream.worker.limits import WorkerLimits
from tests.stream.worker.house import FAST, House, Worker, request_line

RECORDS_MAX = FAST.single_file_ahead_records_max


def in_single_file(house: House, rules: WorkerLimits = FAST) -> Worker:
    """The third life, after two deaths."""
    for _ in range(2):
        house.worker(auto=False).turn(4)
    return house.worker(auto=False, rules=rules)


def open_counts(worker: Worker) -> list[int]:
    """After each turn in single file, which ends one call: the records that are open."""
    counts: list[int] = []
    while not counts or worker.steps.hand_over._single_file.on:
        worker.turn(1)
        counts.append(sum(len(book.open) for book in worker.share.ledgers.values()))
        worker.runner.end_all()
    return counts


def test_single_file_reads_few_records_ahead_over_all_partitions() -> None:
    house = House(slots=40)
    for partition, lane in ((0, Lane.BATCH), (1, Lane.BATCH), (0, Lane.INTERACTIVE)):
        house.put(60, partition=partition, lane=lane)
    worker = in_single_file(house)
    # One that runs, and one that is ready, beside those that wait.
    assert max(open_counts(worker)) <= RECORDS_MAX + 2
    for _ in range(100):
        worker.turn(1).runner.end_all()
    assert house.outputs_of().total() == 180


def test_single_file_reads_few_bytes_ahead() -> None:
    house = House(slots=40)
    house.put(60, value=request_line("x" * 1_500))
    worker = in_single_file(house, dataclasses.replace(FAST, single_file_ahead_bytes_max=2_000))
    counts = open_counts(worker)
    # Only the poll that brought the assignment could not know: it brings few.
    assert max(counts) == RECORDS_MAX
    assert max(counts[counts.index(1) :]) <= 3


@pytest.mark.parametrize("order", ["session", "none"])
def test_a_session_longer_than_what_is_read_ahead_gets_through(order: str) -> None:
    house = House(slots=4, order=order)
    sources = house.put(5 * RECORDS_MAX, session="s") + house.put(3, partition=1)
    worker = in_single_file(house)
    for _ in range(600):
        worker.turn(1).runner.end_all()
    assert house.outputs_of() == {str(source): 1 for source in sources}


def lives(worker: Worker, held_max: int) -> bool:
    """For 60 turns, unless it holds too much at once: then the kernel ends it, and no word is left behind."""
    for turn in range(60):
        worker.turn(1)
        if sum(len(book.open) for book in worker.share.ledgers.values()) > held_max:
            return False
        if turn % 12 == 11:
            worker.runner.end_all()
    return True


def test_records_that_weigh_too_much_together_convict_no_light_one_after_a_few_lives() -> None:
    """So many records held at once kill the process: read one after the other they are harmless."""
    house = House(slots=4)
    sources = house.put(66)
    held_max = 30
    rules = dataclasses.replace(FAST, poll_records_max=40)
    for _life in range(40):
        worker = house.worker(auto=False, rules=rules)
        if lives(worker, held_max):
            break
    for _ in range(200):
        worker.turn(1).runner.end_all()
    assert house.outputs_of() == {str(source): 1 for source in sources}
    assert not house.dead_letters
