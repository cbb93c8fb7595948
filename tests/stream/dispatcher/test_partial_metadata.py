"""A dead letter, and an error result, say whose record it was and which lane it had: as far as it could be read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schemas.dead_letter import DeadLetter
from schemas.headers import Headers
from schemas.lane import Lane
from stream.config.settings import InputBinding
from stream.dispatcher.loop import Dispatcher
from stream.log import reasons
from stream.log.base import Aborted, Outcome, Output
from tests.stream.dispatcher.stage import NOW_MS, Stage, bound, line

#: A body that says whose it is and which lane it takes.
ACME: dict[str, Any] = {"body_metadata": {"tenant": "acme"}, "body_service_tier": "priority"}
LATE: Headers = [("headrace-deadline-ms", str(NOW_MS - 1).encode())]
BOUND, REPLIES = "bound", "headrace.replies.app"


def dead(value: bytes, headers: Headers | None = None) -> DeadLetter:
    stage = Stage()
    stage.send(value, headers=headers)
    stage.dispatch()
    [letter] = stage.dead
    return letter


@pytest.mark.parametrize(
    ("changes", "headers", "error_class"),
    [
        ({}, LATE, "expired"),
        ({"body_model": "simm"}, None, "unknown_endpoint"),
        ({}, [("headrace-reply-to", b"headrace.replies.none")], "unwritable"),
        ({}, [("headrace-reply-to", b"other")], "invalid"),
    ],
)
def test_what_the_body_says_is_found_once_it_was_decoded(
    changes: dict[str, Any], headers: Headers | None, error_class: str
) -> None:
    letter = dead(line(**ACME, **changes), headers)
    assert letter.failure.error_class == error_class
    assert (letter.tenant, letter.lane) == ("acme", Lane.PROVISIONED)


def test_a_header_goes_before_the_body() -> None:
    letter = dead(line(**ACME), [*LATE, ("headrace-tenant", b"other"), ("headrace-lane", b"batch")])
    assert (letter.tenant, letter.lane) == ("other", Lane.BATCH)


def test_a_decoded_body_that_says_nothing_has_the_defaults_that_it_would_have_had() -> None:
    letter = dead(line(), LATE)
    assert (letter.tenant, letter.lane, letter.endpoint) == ("default", Lane.BATCH, "sim")


def test_a_tenant_that_is_too_long_is_not_found_and_its_lane_is() -> None:
    letter = dead(line(body_metadata={"tenant": "x" * 257}, body_service_tier="priority"))
    assert (letter.failure.error_class, letter.tenant) == ("invalid", None)
    assert letter.lane is Lane.PROVISIONED


@pytest.mark.parametrize("value", [b"no", line(**ACME, body_n=9)])
def test_of_a_value_that_was_never_decoded_only_the_headers_speak(value: bytes) -> None:
    letter = dead(value)
    assert (letter.tenant, letter.lane, letter.endpoint) == (None, None, None)
    letter = dead(value, [("headrace-tenant", b"other"), ("headrace-lane", b"interactive")])
    assert (letter.tenant, letter.lane) == ("other", Lane.INTERACTIVE)


def test_a_wrong_header_hides_none_of_the_others() -> None:
    letter = dead(line(), [("headrace-lane", b"gold"), ("headrace-tenant", b"acme")])
    assert (letter.failure.error_class, letter.tenant, letter.lane) == ("invalid", "acme", None)
    letter = dead(line(), [("headrace-lane", b"batch"), ("headrace-tenant", b"x" * 257)])
    assert (letter.tenant, letter.lane) == (None, Lane.BATCH)


def test_of_a_header_that_was_given_twice_the_last_counts_though_it_is_wrong() -> None:
    assert dead(line(), [("headrace-tenant", b"acme"), ("headrace-tenant", b"\xff")]).tenant is None


def test_an_error_travels_as_a_result_beside_a_wrong_header() -> None:
    stage = Stage()
    stage.topic(REPLIES)
    asked: Headers = [("headrace-errors", b"result"), ("headrace-reply-to", REPLIES.encode())]
    stage.send(line(), headers=[*asked, ("headrace-lane", b"gold"), ("mine", b"1")])
    stage.dispatch()
    [result] = stage.records(REPLIES)
    assert stage.dead == []
    told = json.loads(result.value() or b"")
    assert (told["custom_id"], told["error"]["code"]) == ("r-1", "invalid")
    assert ("mine", b"1") in (result.headers() or [])


@pytest.mark.parametrize(
    "headers", [[("headrace-reply-to", b"no topic")], [("headrace-lane", b"gold"), ("mine", b"x" * 70_000)]]
)
def test_where_nobody_knows_the_reply_topic_or_headers_are_too_large_it_stays_a_dead_letter(
    headers: Headers,
) -> None:
    assert dead(line(), [("headrace-errors", b"result"), *headers]).tenant is None


@pytest.mark.parametrize("headers", [None, [("headrace-lane", b"gold")], LATE])
def test_what_the_input_is_bound_to_is_always_found(headers: Headers | None) -> None:
    stage = Stage(bound(InputBinding(BOUND, tenant="owner", lane=Lane.INTERACTIVE)))
    stage.topic(BOUND)
    stage.send(b"no" if headers is None else line(**ACME), topic=BOUND, headers=headers)
    stage.dispatch()
    [letter] = stage.dead
    assert (letter.tenant, letter.lane, letter.format) == ("owner", Lane.INTERACTIVE, "json")


def test_an_error_result_tells_the_same() -> None:
    stage = Stage()
    stage.send(line(**ACME), headers=[*LATE, ("headrace-errors", b"result")])
    stage.dispatch()
    [result] = stage.records("headrace.results")
    told = json.loads(result.value() or b"")["headrace"]
    assert (told["tenant"], told["lane"], told["endpoint"]) == ("acme", "provisioned", "sim")


def refused_by_its_topic(
    monkeypatch: pytest.MonkeyPatch, stage: Stage, topic: str, reason: str
) -> DeadLetter:
    """What goes in place of the one output, which its topic refuses."""
    made: Dispatcher = stage.dispatcher()
    publish = made._producer.publish

    def published(outputs: list[Output], *rest: Any, **names: Any) -> Outcome:
        if [output.topic for output in outputs] == [topic]:
            return Aborted("refused", {0: reason}, delivery=True)
        return publish(outputs, *rest, **names)

    monkeypatch.setattr(made._producer, "publish", published)
    for _ in range(12):
        made.turn()
    made.close()
    [letter] = stage.dead
    return letter


def test_a_work_record_too_large_for_its_topic_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    stage.send(line(**ACME), key=b"k", headers=[("headrace-session", b"s"), ("mine", b"1")])
    letter = refused_by_its_topic(monkeypatch, stage, "headrace.work.sim.provisioned", reasons.TOO_LARGE)
    assert letter.failure.error_class == "too_large"
    found = (letter.tenant, letter.lane, letter.endpoint, letter.format)
    assert found == ("acme", Lane.PROVISIONED, "sim", "json")
    assert letter.original_headers == [("headrace-session", b"s"), ("mine", b"1")]


def test_an_error_result_that_its_topic_refuses_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    stage.topic(REPLIES)
    asked: Headers = [("headrace-errors", b"result"), ("headrace-reply-to", REPLIES.encode())]
    stage.send(line(**ACME), headers=[*LATE, *asked])
    letter = refused_by_its_topic(monkeypatch, stage, REPLIES, "unauthorised")
    assert letter.failure.error_class == "unwritable"
    found = (letter.tenant, letter.lane, letter.endpoint, letter.format)
    assert found == ("acme", Lane.PROVISIONED, "sim", None), "a result says nothing of a format"
