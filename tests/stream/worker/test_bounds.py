"""What waits, and what bounds it."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from schemas.avro import AvroSchema
from schemas.errors import BadRecord, RegistryUnavailable
from schemas.failure import ErrorClass, Failure, Stage
from schemas.lane import Lane
from stream.exactly_once.work_item import Form
from stream.log.base import Aborted, Outcome, Output
from tests.stream.worker.house import FAST, House, header

WIRE = b"\0\0\0\0\7payload"


class Registry:
    """Silent until it is told to speak, then it knows nothing."""

    def __init__(self) -> None:
        self.silent = True
        self.asked = 0

    def schema(self, schema_id: int) -> AvroSchema:
        self.asked += 1
        if self.silent:
            raise RegistryUnavailable("no answer")
        raise BadRecord.unreadable(f"schema id {schema_id} is not known")


def test_a_silent_registry_holds_up_the_partitions_that_need_it_and_loses_nothing() -> None:
    house = House()
    waiting = house.put(3, format="registry", value=WIRE)
    behind = house.put(2)
    elsewhere = house.put(3, partition=1)
    registry = Registry()
    worker = house.worker(registry=registry).turn(10)
    assert house.outputs_of() == {str(source): 1 for source in elsewhere}
    assert registry.asked < 5
    registry.silent = False
    worker.turn(30)
    assert house.outputs_of() == {str(source): 1 for source in waiting + behind + elsewhere}
    assert {header(letter, "headrace-error-class") for letter in house.dead_letters} == {"unreadable"}


def test_the_bytes_of_open_records_are_bounded() -> None:
    house = House(slots=2)
    sources = [house.put(1)[0] for _ in range(40)]
    size = len(house.read(house.work_topic(Lane.BATCH))[0].value() or b"")
    worker = house.worker(
        auto=False, rules=dataclasses.replace(FAST, open_bytes_max=10 * size, poll_records_max=4)
    )
    most = 0
    for _ in range(300):
        worker.turn(1)
        most = max(most, worker.share.count_open_bytes())
        worker.runner.end_all()
    assert house.outputs_of() == {str(source): 1 for source in sources}
    assert most <= 15 * size


def test_what_cannot_be_delivered_shrinks_form_by_form() -> None:
    house = House()
    source = house.put(1, key=b"k" * 30_000, headers=[("headrace-errors", b"result")])[0]
    worker = house.worker(auto=False).turn(4)
    record = next(iter(worker.share.running.values()))
    worker.runner.end(source)
    worker.steps.finishing.take(worker.runner.take())
    writer = worker.steps.finishing._writer
    failure = Failure(ErrorClass.TOO_LARGE, Stage.PUBLISH, "too large")
    forms = [record.form]
    while writer.give_up(record, failure):
        forms.append(record.form)
    assert forms == [Form.ANSWER, Form.ERROR_RESULT, Form.DEAD_LETTER, Form.BARE_DEAD_LETTER]
    assert record.size_bytes < 20_000
    assert dict(record.outputs[0].headers)["headrace-error-class"] == b"too_large"


def test_every_form_comes_with_its_usage_record() -> None:
    house = House()
    sources = house.put(3)
    worker = house.worker(auto=False).turn(4)
    worker.runner.end(sources[0], Failure(ErrorClass.TOO_LONG, Stage.ENGINE, "too long"))
    worker.runner.end_all()
    worker.turn(5)
    assert sorted(header(record, "headrace-source") for record in house.usage) == sorted(map(str, sources))
    assert sum(b'"outcome":"too_long"' in (record.value() or b"") for record in house.usage) == 1


def test_answers_that_kafka_does_not_take_are_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House(slots=2)
    sources = house.put(100)
    worker = house.worker(rules=dataclasses.replace(FAST, ready_bytes_max=10_000))
    publish = worker.sockets.producer.publish

    def away(outputs: list[Output], *rest: Any, **names: Any) -> Outcome:
        return Aborted("timed_out", {}) if outputs else publish(outputs, *rest, **names)

    with monkeypatch.context() as patch:
        patch.setattr(worker.sockets.producer, "publish", away)
        worker.turn(200)
        assert 10_000 < worker.share.ready.size_bytes < 15_000
    worker.turn(200)
    assert house.outputs_of() == {str(source): 1 for source in sources}


def test_a_pause_ends_with_the_room_that_came_back_whoever_made_it() -> None:
    """As by a commit inside the hand-over: nothing is read, moved or committed by the turn itself any more."""
    house = House()
    worker = house.worker().turn(5)
    places = list(worker.share.ledgers)
    worker.share.paused.update(places)
    worker.sockets.consumer.pause(places)
    sources = house.put(3)
    worker.turn(5)
    assert house.outputs_of() == {str(source): 1 for source in sources}
