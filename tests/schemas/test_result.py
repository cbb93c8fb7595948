"""The result line, its headers, and the usage record."""

from __future__ import annotations

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from schemas.failure import ErrorClass, Failure, Stage
from schemas.lane import Lane
from schemas.result import Facts, answer_value, error_value, result_headers
from schemas.source import Source
from schemas.times import Times
from schemas.usage import usage_headers, usage_key, usage_value

SOURCE = Source("in", 1, 2)
FACTS = Facts(SOURCE, "sim", "acme", Lane.BATCH, 1, Times(1, 2, None, 4), {"gpu": 16})
TOLD = {
    "source": {"topic": "in", "partition": 1, "offset": 2},
    "endpoint": "sim",
    "tenant": "acme",
    "lane": "batch",
    "model_units": None,
    "cached_tokens": {"gpu": 16},
    "attempts": 1,
    "times_ms": {"queued": 1, "dispatched": 2, "first_token": None, "done": 4},
}


def test_an_answer_is_the_line_of_the_contract() -> None:
    body = {"object": "chat.completion", "usage": {"total_tokens": 5}}
    assert json.loads(answer_value(FACTS, "r-1", body)) == {
        "id": "in/1/2",
        "custom_id": "r-1",
        "response": {"status_code": 200, "request_id": "in/1/2", "body": body},
        "error": None,
        "headrace": TOLD,
    }


def test_what_was_clamped_is_told() -> None:
    assert json.loads(answer_value(FACTS, None, {}, {"max_tokens": 9}))["headrace"]["clamped"] == {
        "max_tokens": 9
    }
    assert "clamped" not in json.loads(answer_value(FACTS, None, {}, {}))["headrace"]


def test_fields_without_effect_are_named_with_their_count() -> None:
    facts = msgspec.structs.replace(FACTS, ignored=("$.body.user",), ignored_count=7)
    failure = Failure(ErrorClass.ENGINE, Stage.ENGINE, "no")
    for line in (answer_value(facts, None, {}), error_value(facts, None, failure)):
        assert json.loads(line)["headrace"]["ignored"] == {"paths": ["$.body.user"], "count": 7}
    assert "ignored" not in json.loads(answer_value(FACTS, None, {}))["headrace"]


def test_an_error_as_a_result_has_class_and_message_and_when_to_try_again() -> None:
    failure = Failure(ErrorClass.OVER_QUOTA, Stage.ADMIT, "too much", retry_after_ms=250)
    line = json.loads(error_value(FACTS, "r-1", failure))
    assert line["error"] == {"code": "over_quota", "message": "too much"}
    assert line["response"] is None
    assert line["headrace"] == {**TOLD, "retry_after_ms": 250}


def test_an_error_of_an_unread_record_has_no_custom_id_and_no_endpoint() -> None:
    facts = Facts(SOURCE, None, None, None, 0)
    line = json.loads(error_value(facts, None, Failure(ErrorClass.UNREADABLE, Stage.DECODE, "no")))
    assert (line["custom_id"], line["headrace"]["endpoint"], line["headrace"]["lane"]) == (None, None, None)
    assert "retry_after_ms" not in line["headrace"]


@given(st.none() | st.text(st.characters(exclude_categories=["Cs"])))
def test_a_custom_id_comes_back_as_it_was(custom_id: str | None) -> None:
    assert json.loads(answer_value(FACTS, custom_id, {}))["custom_id"] == custom_id


def test_an_answer_with_numbers_that_json_lacks_is_still_a_line() -> None:
    body = json.loads(answer_value(FACTS, None, {"data": [float("nan"), float("inf")]}))["response"]["body"]
    assert body == {"data": [None, None]}


def test_a_message_with_a_lone_surrogate_is_still_a_line() -> None:
    failure = Failure(ErrorClass.ENGINE, Stage.ENGINE, "bad \ud800 text")
    assert json.loads(error_value(FACTS, None, failure))["error"]["message"] == "bad \\ud800 text"


def test_result_headers_are_ours_then_the_producers() -> None:
    assert result_headers(SOURCE, 5, 3, [("mine", None)]) == [
        ("headrace-version", b"1"),
        ("headrace-source", b"in/1/2"),
        ("headrace-source-timestamp", b"5"),
        ("headrace-attempts", b"3"),
        ("mine", None),
    ]


def test_times_count_from_the_input_and_never_below_zero() -> None:
    times = Times.since(1_000, queued_ms=1_010, dispatched_ms=990, done_ms=1_500)
    assert times == Times(10, 0, None, 500)


def test_a_usage_record_sums_tokens_and_says_what_became_of_the_record() -> None:
    value = json.loads(usage_value(FACTS, "answered", {"input": 7, "output": 3, "cached": 16}))
    assert value == {
        "source": {"topic": "in", "partition": 1, "offset": 2},
        "endpoint": "sim",
        "tenant": "acme",
        "lane": "batch",
        "outcome": "answered",
        "attempts": 1,
        "tokens": {"input": 7, "output": 3, "cached": {"gpu": 16}},
        "model_units": None,
        "times_ms": {"queued": 1, "dispatched": 2, "first_token": None, "done": 4},
    }
    assert usage_key("acme") == b"acme"
    assert usage_key(None) is None
    assert ("headrace-source", b"in/1/2") in usage_headers(FACTS, 5)
