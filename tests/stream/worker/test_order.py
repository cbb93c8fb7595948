"""The three orders of an endpoint: which calls of a session run at once, and which outputs wait."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from schemas.failure import ErrorClass, Failure, Stage
from schemas.source import Source
from stream.config.settings import Limits
from stream.exactly_once.offset_map import OffsetMap, encode
from stream.metrics.prometheus import PrometheusMetrics
from tests.stream.metrics.served import value
from tests.stream.worker.house import FAST, House, Worker, header
from tests.stream.worker.test_single_file import poisoned

ORDERS = ("session", "serial", "none")


def answered(house: House) -> list[str]:
    """Sources in the order in which their outputs were committed: all usage of a tenant is on one partition."""
    return [header(record, "headrace-source") for record in house.usage]


def texts(sources: list[Source]) -> list[str]:
    return [str(source) for source in sources]


@pytest.mark.parametrize("order", ["session", "none"])
def test_calls_of_one_session_run_at_once(order: str) -> None:
    house = House(order=order)
    sources = house.put(3, session="s")
    worker = house.worker(auto=False).turn(3)
    assert worker.runner.started == sources


def test_an_answer_waits_for_its_elders_and_holds_no_slot() -> None:
    house = House(slots=3)
    sources = house.put(5, session="s")
    worker = house.worker(auto=False).turn(3)
    for source in sources[1:3]:
        worker.runner.end(source)
    worker.turn(5)
    assert worker.runner.started == sources
    assert answered(house) == []
    assert len(worker.share.ledgers[sorted(worker.share.ledgers)[0]].open) == 5
    worker.runner.end(sources[0])
    worker.turn(5)
    assert answered(house) == texts(sources[:3])


def test_answers_that_wait_are_counted() -> None:
    house, metrics = House(), PrometheusMetrics()
    sources = house.put(3, session="s")
    worker = house.worker(auto=False, metrics=metrics).turn(3)
    for source in sources[1:]:
        worker.runner.end(source)
    worker.turn(30)
    assert value(metrics, "headrace_held", endpoint="sim") == 2
    worker.runner.end(sources[0])
    worker.turn(30)
    assert value(metrics, "headrace_held", endpoint="sim") == 0


def test_without_order_an_answer_waits_for_nobody() -> None:
    house = House(order="none")
    sources = house.put(3, session="s")
    worker = house.worker(auto=False).turn(3)
    for source in reversed(sources):
        worker.runner.end(source)
        worker.turn(5)
    assert answered(house) == texts(sources[::-1])


def test_other_sessions_and_lanes_wait_for_nobody_else() -> None:
    house = House()
    slow = house.put(1, session="a")
    others = house.put(1, session="b") + house.put(1, session="a", tenant="other") + house.put(1)
    worker = house.worker(auto=False).turn(3)
    for source in others:
        worker.runner.end(source)
    worker.turn(5)
    assert set(house.outputs_of()) == set(texts(others))
    assert slow[0] in [call.source for call in worker.runner.inside.values()]


def test_a_dead_letter_keeps_its_turn() -> None:
    house = House()
    sources = (
        house.put(1, session="s") + house.put(1, session="s", value=b"no JSON") + house.put(1, session="s")
    )
    worker = house.worker(auto=False).turn(3)
    worker.runner.end(sources[2])
    worker.turn(5)
    assert answered(house) == []
    worker.runner.end(sources[0], Failure(ErrorClass.ENGINE, Stage.ENGINE, "no"))
    worker.turn(5)
    assert answered(house) == texts(sources)
    assert [header(letter, "headrace-error-class") for letter in house.dead_letters] == [
        "engine",
        "unreadable",
    ]


def test_answers_that_wait_do_not_stop_the_elder_they_wait_for() -> None:
    """More bytes wait than may: only what has no elder starts, whatever stands before it."""
    house = House(slots=2)
    first = house.put(1, session="s")[0]
    later = house.put(6, session="s")
    other = house.put(1)[0]
    worker = house.worker(auto=False, rules=small(500)).turn(3)
    worker.runner.end(later[0])
    worker.steps.finishing.take(worker.runner.take())
    worker.turn(5)
    assert worker.share.held_bytes > 500
    assert worker.runner.started == [first, later[0], other], (
        "the later ones are passed over, the stranger is not"
    )
    worker.runner.end(other)
    worker.turn(5)
    assert len(worker.runner.inside) == 1
    for _ in range(10):
        worker.runner.end_all()
        worker.turn(5)
    assert [text for text in answered(house) if text != str(other)] == texts([first, *later])


def small(ready_bytes_max: int) -> Any:
    return replace(FAST, ready_bytes_max=ready_bytes_max)


def test_a_restart_goes_on_in_order_with_the_elders_done_by_the_map() -> None:
    house = House()
    sources = house.put(4, session="s") + house.put(1)
    worker = house.worker(auto=False).turn(3)
    for source in (sources[0], sources[2], sources[4]):
        worker.runner.end(source)
    worker.turn(5)
    assert set(answered(house)) == set(texts([sources[0], sources[4]]))
    again = house.worker(auto=False).turn(3)
    assert again.runner.started == sources[1:4]
    again.runner.end(sources[3])
    again.turn(3)
    again.runner.end_all()
    again.turn(5)
    assert [text for text in answered(house) if text != str(sources[4])] == texts(sources[:4])


def test_answers_that_wait_are_adopted_after_a_rebalance() -> None:
    house = House()
    sources = house.put(3, session="s")
    worker = house.worker(auto=False).turn(4)
    worker.runner.end(sources[2])
    worker.turn(2)
    listener, owned = worker.steps.assignment, list(worker.share.ledgers)
    listener.revoked(owned)
    assert worker.share.held_bytes == 0
    for place, begin in listener.assigned(owned).items():
        worker.sockets.consumer.seek(place, begin)
    worker.turn(3)
    worker.runner.end_all()
    worker.turn(5)
    assert worker.runner.started == sources
    assert answered(house) == texts(sources)


def test_a_convicted_record_keeps_its_turn_and_does_not_stop_its_elder() -> None:
    """Its elder is not done, as after a change of the order: that one must run all the same."""
    house = House(poison_deaths_max=3)
    sources = house.put(2, session="s")
    house.commit_offset(0, encode(replace(OffsetMap.empty(0), deaths=2, trying=1)))
    worker = house.worker().turn(40)
    assert answered(house) == texts(sources)
    assert poisoned(house) == texts(sources[1:])
    assert not worker.share.ledgers[sorted(worker.share.ledgers)[0]].open


@pytest.mark.parametrize("order", ORDERS)
def test_single_file_names_a_record_when_its_elders_are_committed(order: str) -> None:
    house = House(order=order, slots=4)
    sources = house.put(6, session="s")
    for _ in range(2):
        house.worker(auto=False).turn(4)
    worker, named = house.worker(auto=False), 0
    while len(answered(house)) < len(sources):
        worker.turn(2)
        inside = [call.source for call in worker.runner.inside.values()]
        found = house.committed()
        if inside and worker.steps.hand_over._single_file.on:
            named += 1
            assert len(inside) == 1
            assert found is not None
            assert found.trying is not None
            assert all(found.says_done(offset) for offset in range(found.trying))
        worker.runner.end_all()
    assert named >= 4
    assert answered(house) == texts(sources)


@pytest.mark.parametrize("order", ["session", "none"])
def test_a_stranger_behind_a_hot_session_is_not_left_waiting_while_slots_are_free(order: str) -> None:
    """With `serial` it waits for room in the ledger, one call after the other."""
    house = House(slots=32, order=order, limits=Limits(open_records_max=1_600))
    house.put(1_700, session="hot")
    stranger = house.put(1)[0]
    worker = house.worker(auto=False)
    while stranger not in worker.runner.started:
        worker.turn(3, step_s=0.3)
        inside = len(worker.runner.inside)
        assert inside == 32 or stranger in worker.runner.started, f"{32 - inside} slots are free"
        worker.runner.end_all()


def test_the_answer_of_one_that_waited_meets_what_is_known_of_its_reply_topic_by_then() -> None:
    house = House()
    house.create("headrace.replies.x")
    to_x: Any = [("headrace-reply-to", b"headrace.replies.x")]
    sources = house.put(1, session="s") + house.put(1, session="s", headers=to_x)
    worker: Worker = house.worker(auto=False).turn(4)
    worker.runner.end(sources[1])
    worker.turn(3)
    targets = worker.steps.committer._targets
    targets.quarantine("headrace.replies.x", "set aside", house.clock())
    worker.runner.end(sources[0])
    worker.turn(4)
    assert answered(house) == texts(sources)
    assert [header(letter, "headrace-error-class") for letter in house.dead_letters] == ["unwritable"]
