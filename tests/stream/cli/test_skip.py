"""Going on after a batch that a group cannot read: its offsets, its records, and nobody else's."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from schemas.headers import Headers
from stream.cli.quarantined.skip import skip
from stream.cli.quarantined.stuck import StuckPartition, stuck_partitions
from stream.client.deadline import Deadline
from stream.config.settings import Limits, Settings
from stream.errors import UsageError
from stream.log.base import Partition
from stream.log.memory.log import Fault, MemoryLog
from tests.stream.dispatcher.stage import INPUT, Stage, line
from tests.stream.worker.house import House
from workers.endpoint import Endpoint

GOOD = line()
SETTINGS = Settings(endpoints={"sim": Endpoint("sim", "simulated", partitions=4)})
PLACE = Partition(INPUT, 0)
SKIPPER = "headrace.replay.quarantine"


def staged(settings: Settings = SETTINGS) -> Stage:
    return Stage(settings=settings, log=MemoryLog(session_timeout_s=0.02))


def listed(stage: Stage | House) -> list[StuckPartition]:
    topics = stage.log.admin().topics(5)
    return list(stuck_partitions(stage.log, stage.settings, topics, Deadline(30)))


def bombed(*, room: bool = True, settings: Settings | None = None) -> Stage:
    """Two good records, a batch of three that does not unpack, two good ones; the dispatcher has met it and is gone."""
    stage = staged() if settings is None else staged(settings)
    headers: Headers = [("headrace-tenant", b"acme"), ("trace", b"1")]
    stage.send(*[GOOD] * 2)
    stage.send(*[GOOD] * 3, key=b"k", headers=headers)
    stage.send(*[GOOD] * 2)
    stage.log.damage(PLACE, 2, 4, room=room)
    stage.dispatch()
    return stage


def test_it_is_listed_with_its_cause_where_it_stands_and_where_it_ends() -> None:
    [found] = listed(bombed())
    assert (found.standing.group, found.standing.partition) == ("headrace.dispatcher", PLACE)
    assert (found.stuck.cause, found.first, found.last) == ("bad_compression", 2, 4)


@pytest.mark.parametrize("batch", [1, 2, 3, 7, 50])
def test_the_end_of_a_batch_of_any_length_is_found(batch: int) -> None:
    stage = staged()
    stage.send(*[GOOD] * (batch + 3))
    stage.log.damage(PLACE, 1, batch)
    stage.dispatch()
    assert [(one.first, one.last) for one in listed(stage)] == [(1, batch)]


def test_a_batch_without_end_is_listed_up_to_the_end_of_the_log() -> None:
    stage = staged()
    stage.send(*[GOOD] * 5)
    stage.log.damage(PLACE, 3, 99)
    stage.dispatch()
    assert [(one.first, one.last) for one in listed(stage)] == [(3, 4)]


def test_each_skipped_record_is_a_dead_letter_that_keeps_what_it_had_and_the_rest_flows() -> None:
    stage = bombed()
    done = skip(stage.log, stage.settings, PLACE, 2, 4)
    assert (done.group, done.dead_letters, done.unread) == ("headrace.dispatcher", 3, 0)
    stage.dispatch()
    assert [work.source.offset for work in stage.work] == [0, 1, 5, 6]
    assert [dead.source.offset for dead in stage.dead] == [2, 3, 4]
    dead = stage.dead[0]
    assert (dead.failure.error_class, dead.failure.stage) == ("unreadable", "decode")
    assert (dead.key, dead.value, dead.tenant) == (b"k", GOOD, "acme")
    assert ("trace", b"1") in dead.original_headers
    stage.assert_each_input_has_one_output()
    assert listed(stage) == []


def test_what_no_client_can_read_is_passed_and_counted() -> None:
    stage = bombed(room=False)
    done = skip(stage.log, stage.settings, PLACE, 2, 4)
    assert (done.dead_letters, done.unread) == (0, 3)
    stage.dispatch()
    assert [work.source.offset for work in stage.work] == [0, 1, 5, 6]
    assert stage.dead == []


def test_a_part_of_a_batch_may_be_skipped_and_the_rest_later() -> None:
    stage = bombed()
    assert skip(stage.log, stage.settings, PLACE, 2, 2).dead_letters == 1
    stage.dispatch()
    assert [(one.first, one.last) for one in listed(stage)] == [(3, 4)]
    assert skip(stage.log, stage.settings, PLACE, 3, 4).dead_letters == 2
    stage.dispatch()
    stage.assert_each_input_has_one_output()


@pytest.mark.parametrize(
    ("first", "last", "why"),
    [
        (0, 4, "can be read at offset 0"),
        (3, 4, "it stands at 2: skip from there on, 2-4"),
        (5, 6, "can be read at offset 5"),
        (2, 7, "has the offsets 0 to 6, not 2 to 7"),
    ],
)
def test_what_can_be_read_what_comes_too_early_and_what_is_not_there_is_refused(
    first: int, last: int, why: str
) -> None:
    stage = bombed()
    with pytest.raises(UsageError, match=why):
        skip(stage.log, stage.settings, PLACE, first, last)
    assert stage.dead == []


@pytest.mark.parametrize("fault", list(Fault))
def test_a_transaction_of_any_outcome_makes_each_dead_letter_once(fault: Fault) -> None:
    stage = bombed()
    stage.log.inject(SKIPPER, fault)
    assert skip(stage.log, stage.settings, PLACE, 2, 4).dead_letters == 3
    stage.dispatch()
    stage.assert_each_input_has_one_output()


class _Died(BaseException):
    """The command was killed."""


@pytest.mark.parametrize("point", ["begun", "produced", "offsets_sent", "committed"])
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_skip_that_dies_in_the_middle_is_begun_again_and_each_record_has_one_output(
    point: str, nth: int
) -> None:
    small = Settings(
        endpoints={"sim": Endpoint("sim", "simulated", partitions=4)}, limits=Limits(txn_bytes_max=600)
    )
    stage, met = bombed(settings=small), Counter[str]()

    def die(at: str) -> None:
        met[at] += 1
        if at == point and met[at] == nth:
            raise _Died

    with pytest.raises(_Died):
        skip(stage.log, stage.settings, PLACE, 2, 4, reach=die)
    for one in listed(stage):
        skip(stage.log, stage.settings, PLACE, one.first, one.last)
    stage.dispatch()
    stage.assert_each_input_has_one_output()


def settle(stage: Stage) -> None:
    """Members of before are gone once their session is over; then all that is there is dispatched."""
    until_s = time.monotonic() + 60
    while any(
        (at.offset if at else 0) < stage.admin.stable_ends([place], 1)[place]
        for place, at in stage.committed.items()
    ):
        assert time.monotonic() < until_s
        stage.dispatch()


@contextmanager
def running(stage: Stage) -> Iterator[ThreadPoolExecutor]:
    """Dispatchers that turn beside the test."""
    stop = threading.Event()

    def live(slot: int) -> None:
        made = stage.dispatcher(slot)
        while not stop.is_set():
            made.turn()
        made.close()

    with ThreadPoolExecutor(3) as pool:
        lives = [pool.submit(live, slot) for slot in (0, 1)]
        try:
            yield pool
        finally:
            stop.set()
        for one in lives:
            one.result()


def test_running_dispatchers_leave_the_partition_for_a_moment_and_go_on_after_it() -> None:
    stage = bombed()
    stage.send(*[GOOD] * 20, partition=1)
    with running(stage):
        assert skip(stage.log, stage.settings, PLACE, 2, 4).dead_letters == 3
        stage.send(*[GOOD] * 3)
        stage.send(*[GOOD] * 3, partition=2)
    settle(stage)
    stage.assert_each_input_has_one_output()


@pytest.mark.parametrize("seed", range(25))
def test_bombs_skips_deaths_and_dispatchers_in_any_order_give_each_record_one_output(seed: int) -> None:
    rng = random.Random(seed)
    settings = Settings(
        endpoints={"sim": Endpoint("sim", "simulated", partitions=4)},
        limits=Limits(txn_bytes_max=rng.choice([600, 1 << 24])),
    )
    stage = staged(settings)

    def die(_point: str) -> None:
        if rng.random() < 0.1:
            raise _Died

    for _ in range(12):
        first = stage.admin.stable_ends([PLACE], 1)[PLACE]
        stage.send(*[rng.choice([GOOD, b"bad"]) for _ in range(rng.randrange(1, 6))])
        if rng.random() < 0.5:
            stage.log.damage(PLACE, first, first + rng.randrange(3))
        stage.dispatch(rng.randrange(1, 8))
        if rng.random() < 0.6:
            _skip_all(stage, die, rng)
    stage.dispatch(20)
    while listed(stage):
        _skip_all(stage, lambda _point: None, rng)
        stage.dispatch(20)
    inputs = stage.admin.stable_ends([PLACE], 1)[PLACE]
    outputs = sorted([*(w.source.offset for w in stage.work), *(d.source.offset for d in stage.dead)])
    assert outputs == list(range(inputs))


def _skip_all(stage: Stage, die: Callable[[str], None], rng: random.Random) -> None:
    for one in listed(stage):
        if rng.random() < 0.3:
            stage.log.inject(SKIPPER, rng.choice(list(Fault)))
        try:
            skip(stage.log, stage.settings, PLACE, one.first, one.last, reach=die)
        except _Died:
            stage.log.end_transaction(SKIPPER)  # its time is over, soon or late
