"""Every end of a record that a worker took has one usage record, dead letters and records that never ran included."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest

from schemas.failure import ErrorClass, Failure, Stage
from schemas.headers import Headers
from schemas.lane import Lane
from schemas.source import Source
from stream.log.base import Output
from tests.stream.worker.house import House, header
from workers.engines.base import Answer, Tokens

EXPIRED = Failure(ErrorClass.EXPIRED, Stage.ENGINE, "too late")


def reply(topic: str) -> Headers:
    return [("headrace-reply-to", topic.encode())]


def failed(house: House) -> str:
    return ended_as(house, Failure(ErrorClass.ENGINE, Stage.ENGINE, "it broke"))


def ended_as(
    house: House, outcome: Answer | Failure, attempts: int = 1, headers: Headers | None = None
) -> str:
    [source] = house.put(1, headers=headers)
    worker = house.worker(auto=False).turn(4)
    worker.runner.end(source, outcome)
    [finished] = worker.runner.take()
    tokens = finished.tokens if attempts else Tokens()
    worker.runner._ended.append(msgspec.structs.replace(finished, attempts=attempts, tokens=tokens))
    worker.turn(20)
    return str(source)


def expired(house: House) -> str:
    return ended_as(house, EXPIRED, attempts=0)


def expired_and_told_as_a_result(house: House) -> str:
    return ended_as(house, EXPIRED, attempts=0, headers=[("headrace-errors", b"result")])


def unreadable(house: House) -> str:
    [source] = house.put(1, value=b"{nonsense")
    house.worker().turn()
    return str(source)


def foreign(house: House) -> str:
    place = Source(house.work_topic(Lane.BATCH), 0, 0)
    house.log.plain_producer().send(Output(place.topic, b"k", b"v", [], place.partition))
    house.worker().turn()
    return str(place)


def poisonous(house: House) -> str:
    [source] = house.put(1)
    for _ in range(house.endpoint.poison_deaths_max):
        house.worker(auto=False).turn(6)
    house.worker().turn(20)
    return str(source)


def unwritable(house: House) -> str:
    [source] = house.put(1, headers=reply("headrace.replies.gone"))
    house.worker().turn(20)
    return str(source)


def set_aside_after_its_answer_was_written(house: House) -> str:
    house.create("headrace.replies.denied")
    house.log.deny("headrace.replies.denied")
    [source] = house.put(1, headers=reply("headrace.replies.denied"))
    house.worker().turn(30)
    return str(source)


def too_large(house: House) -> str:
    house.create("headrace.replies.small", max_message_bytes="2000")
    answer = Answer({"text": "x" * 5_000}, Tokens(3, 9, 0), 0.0)
    return ended_as(house, answer, headers=reply("headrace.replies.small"))


def too_large_however_it_is_told(house: House) -> str:
    """The error result does not fit either: its custom_id is too long."""
    house.create("headrace.replies.small", max_message_bytes="2000")
    line = {"custom_id": "i" * 5_000, "url": "/v1/completions", "body": {"model": "sim", "prompt": "hi"}}
    headers = [*reply("headrace.replies.small"), ("headrace-errors", b"result")]
    [source] = house.put(1, headers=headers, value=json.dumps(line).encode())
    house.worker().turn(30)
    return str(source)


@pytest.mark.parametrize(
    ("end", "error_class", "attempts"),
    [
        (failed, "engine", 1),
        (expired, "expired", 0),
        (expired_and_told_as_a_result, "expired", 0),
        (unreadable, "unreadable", 0),
        (foreign, "unreadable", 0),
        (poisonous, "poison", 3),
        (unwritable, "unwritable", 1),
        (set_aside_after_its_answer_was_written, "unwritable", 1),
        (too_large, "too_large", 1),
        (too_large_however_it_is_told, "too_large", 1),
    ],
)
def test_an_end_without_an_answer_has_one_usage_record(
    end: Callable[[House], str], error_class: str, attempts: int
) -> None:
    house = House()
    source = end(house)
    assert house.outputs_of() == {source: 1}
    [usage] = house.usage
    told = json.loads(usage.value() or b"")
    assert header(usage, "headrace-source") == source
    assert (told["outcome"], told["attempts"]) == (error_class, attempts)
    used = told["tokens"]["input"] + told["tokens"]["output"] > 0
    assert used == (attempts > 0 and error_class != "poison"), "what died told nobody what it had used"
