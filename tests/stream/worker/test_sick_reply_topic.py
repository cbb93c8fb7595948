"""A reply topic that is there, and takes nothing in time: no leader, or too few replicas."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.lane import Lane
from stream.log.base import Aborted, Outcome, Output
from tests.stream.worker.house import House, Worker, header

SICK = "headrace.replies.sick"
TO_SICK: list[tuple[str, bytes | None]] = [("headrace-reply-to", SICK.encode())]


def sicken(house: House, worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deliveries to that topic time out, as the client has it."""
    publish = worker.sockets.producer.publish

    def timing_out(outputs: list[Output], *rest: Any, **names: Any) -> Outcome:
        if any(output.topic == SICK for output in outputs):
            house.clock.passes(30)
            return Aborted("delivery_timed_out", {})
        return publish(outputs, *rest, **names)

    monkeypatch.setattr(worker.sockets.producer, "publish", timing_out)


@pytest.mark.parametrize("lane", [Lane.BATCH, Lane.INTERACTIVE])
def test_it_is_set_aside_while_the_others_are_answered(lane: Lane, monkeypatch: pytest.MonkeyPatch) -> None:
    house = House()
    house.create(SICK)
    worker = house.worker().turn(6)
    sicken(house, worker, monkeypatch)
    bad = house.put(1, headers=TO_SICK)
    good = house.put(5)
    for _ in range(20):
        good += house.put(1, lane=lane, partition=1)
        worker.turn(3)
    worker.turn(40)
    assert house.outputs_of() == {str(source): 1 for source in bad + good}
    [letter] = house.dead_letters
    assert header(letter, "headrace-error-class") == "unwritable"


def test_a_sessions_later_answer_waits_behind_it_and_no_other_does(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House()
    house.create(SICK)
    worker = house.worker().turn(6)
    sicken(house, worker, monkeypatch)
    sources = house.put(1, session="s", headers=TO_SICK) + house.put(1, session="s")
    others = house.put(3, session="other")
    worker.turn(100)
    assert house.outputs_of() == {str(source): 1 for source in others}
    for _ in range(10):
        others += house.put(1)
        worker.turn(10)
    assert house.outputs_of() == {str(source): 1 for source in sources + others}


def test_a_clean_stop_beside_it_is_no_death(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House()
    house.create(SICK)
    house.put(1, headers=TO_SICK)
    house.put(5)
    for _ in range(3):
        worker = house.worker()
        sicken(house, worker, monkeypatch)
        worker.turn(6).close()
        found = house.committed()
        assert found is not None
        assert found.deaths == 0


def single_file(house: House, monkeypatch: pytest.MonkeyPatch) -> Worker:
    """A worker beside the sick topic, after two unclean ends."""
    for _ in range(2):
        house.worker(auto=False).turn(4)
    worker = house.worker()
    sicken(house, worker, monkeypatch)
    return worker


def test_in_single_file_too_it_is_set_aside_while_the_others_are_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    house.create(SICK)
    sources = house.put(1, headers=TO_SICK) + house.put(3) + house.put(2, lane=Lane.INTERACTIVE, partition=1)
    single_file(house, monkeypatch).turn(60)
    assert house.outputs_of() == {str(source): 1 for source in sources}
    [letter] = house.dead_letters
    assert header(letter, "headrace-error-class") == "unwritable"


@pytest.mark.parametrize("turns", range(2, 8))
def test_a_death_while_it_is_tried_does_not_convict_the_answered_record(
    turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = House()
    house.create(SICK)
    answered = house.put(1, headers=TO_SICK)
    sources = answered + house.put(3)
    single_file(house, monkeypatch).turn(turns)
    house.worker().turn(60)
    convicted = [
        header(letter, "headrace-source")
        for letter in house.dead_letters
        if header(letter, "headrace-error-class") == "poison"
    ]
    assert str(answered[0]) not in convicted
    assert house.outputs_of(SICK) | house.outputs_of() == {str(source): 1 for source in sources}
