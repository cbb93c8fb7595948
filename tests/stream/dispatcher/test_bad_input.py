"""Each bad record costs exactly one dead letter with its class and stage; its bytes are kept, its neighbours routed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schemas.headers import Headers
from stream.dispatcher.partial_metadata import ENDPOINT_CHARS_MAX
from tests.stream.dispatcher.stage import NOW_MS, Stage, line

GOOD = line()

UNREADABLE: dict[str, bytes | None] = {
    "not JSON": b"hello",
    "half a line": GOOD[:-1],
    "two values": GOOD + b" 1",
    "an array": b"[1]",
    "a number": b"7",
    "null": b"null",
    "invalid UTF-8": GOOD.replace(b"hello", b"\xff\xfe"),
    "invalid UTF-8 in an unknown field": b'{"x": "\xff", ' + GOOD[1:],
    "a byte order mark": b"\xef\xbb\xbf" + GOOD,
    "a lone surrogate": GOOD.replace(b"hello", b"\\ud800"),
    "empty": b"",
    "a tombstone": None,
    "blank": b"  \n",
    "10,000 levels": b'{"x":' + b"[" * 10_000 + b"]" * 10_000 + b"," + GOOD[1:],
    "65 levels": b'{"x":' + b"[" * 65 + b"]" * 65 + b"," + GOOD[1:],
    "NaN": GOOD.replace(b'"max_tokens": 8', b'"temperature": NaN'),
    "Infinity": GOOD.replace(b'"max_tokens": 8', b'"temperature": Infinity'),
    "16 MiB and more": b"x" * (16 * 1024 * 1024 + 1000),
}

INVALID: dict[str, bytes] = {
    "no body": line(body=None),
    "a body of text": line(body="hi"),
    "no model": line(body_model=None),
    "a model that is a number": line(body_model=7),
    "no messages": line(body_messages=None),
    "messages that are text": line(body_messages="hi"),
    "empty messages": line(body_messages=[]),
    "an unknown role": line(body_messages=[{"role": "robot", "content": "hi"}]),
    "an unknown url": line(url="/v1/images"),
    "no url": line(url=None),
    "an unknown method": line(method="GET"),
    "max_tokens 0": line(body_max_tokens=0),
    "max_tokens -1": line(body_max_tokens=-1),
    "max_tokens 2^63": line(body_max_tokens=2**63),
    "max_tokens text": line(body_max_tokens="8"),
    "10^400": GOOD.replace(b'"max_tokens": 8', b'"temperature": 1' + b"0" * 400),
    "temperature 1e400": GOOD.replace(b'"max_tokens": 8', b'"temperature": 1e400'),
    "temperature -1": line(body_temperature=-1),
    "temperature 99": line(body_temperature=99),
    "temperature text": line(body_temperature="warm"),
    "top_p 0": line(body_top_p=0),
    "n 9": line(body_n=9),
    "1,000 stops": line(body_stop=["x"] * 1000),
    "no choices": line(body_structured_outputs={"choice": []}),
    "10,000 choices": line(body_structured_outputs={"choice": [str(i) for i in range(10_000)]}),
    "an unknown response format": line(body_response_format={"type": "yaml"}),
    "a schema that is text": line(
        body_response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": "no"}}
    ),
    "a long tenant in metadata": line(body_metadata={"tenant": "x" * 257}),
    "invocations, which come later": line(url="/serving-endpoints/sim/invocations"),
}

LYING_HEADERS: dict[str, Headers] = {
    "lane gold": [("headrace-lane", b"gold")],
    "deadline soon": [("headrace-deadline-ms", b"soon")],
    "lane not UTF-8": [("headrace-lane", b"\xff")],
    "tenant not UTF-8": [("headrace-tenant", b"\xff")],
    "a session of 257 bytes": [("headrace-session", b"x" * 257)],
    "a reply-to outside the patterns": [("headrace-reply-to", b"headrace.dead-letters")],
    "a reply-to to an input": [("headrace-reply-to", b"headrace.requests")],
    "a reply-to that is no topic": [("headrace-reply-to", b"a b")],
    "a reply-to with a strange partition": [("headrace-reply-to", b"headrace.results:x")],
    "errors maybe": [("headrace-errors", b"maybe")],
}


def one_bad_among_good(
    value: bytes | None, headers: Headers | None = None, key: bytes | None = b"k"
) -> tuple[Any, Stage]:
    """The dead letter of a record with good ones before and behind it."""
    stage = Stage()
    stage.send(GOOD)
    stage.send(value, key=key, headers=headers)
    stage.send(GOOD)
    stage.dispatch()
    assert [(work.source.offset, work.value) for work in stage.work] == [(0, GOOD), (2, GOOD)]
    [letter] = stage.dead
    assert (letter.key, letter.original_headers) == (key, headers or [])
    assert letter.source == ("headrace.requests", 0, 1)
    assert letter.attempts == 0
    assert letter.group == "headrace.dispatcher"
    assert letter.source_timestamp_ms == NOW_MS - 50
    stage.assert_each_input_has_one_output()
    return letter, stage


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_value_that_cannot_be_read_is_unreadable(name: str) -> None:
    letter, _ = one_bad_among_good(UNREADABLE[name], [("mine", b"1"), ("headrace-lane", b"batch")])
    assert (letter.failure.error_class, letter.failure.stage) == ("unreadable", "decode")
    assert letter.value == UNREADABLE[name]


@pytest.mark.parametrize("name", INVALID)
def test_a_wrong_field_is_invalid(name: str) -> None:
    letter, _ = one_bad_among_good(INVALID[name])
    assert (letter.failure.error_class, letter.failure.stage) == ("invalid", "validate")
    assert letter.value == INVALID[name]


@pytest.mark.parametrize("name", LYING_HEADERS)
def test_a_lying_header_is_invalid_and_kept(name: str) -> None:
    letter, _ = one_bad_among_good(GOOD, LYING_HEADERS[name])
    assert (letter.failure.error_class, letter.failure.stage) == ("invalid", "validate")
    assert letter.value == GOOD
    assert letter.failure.message


def test_a_value_that_cannot_be_read_counts_before_a_lying_header() -> None:
    letter, _ = one_bad_among_good(b"no", [("headrace-lane", b"gold")])
    assert letter.failure.error_class == "unreadable"


def test_headers_of_more_than_64_kib_are_unreadable() -> None:
    headers: Headers = [("x", b"y" * 70_000)]
    letter, _ = one_bad_among_good(GOOD, headers)
    assert (letter.failure.error_class, letter.failure.stage) == ("unreadable", "decode")


def test_a_key_of_more_than_64_kib_is_unreadable() -> None:
    letter, _ = one_bad_among_good(GOOD, None, b"k" * 70_000)
    assert (letter.failure.error_class, letter.failure.stage) == ("unreadable", "decode")


def test_a_bad_part_among_many_good_messages_is_found_in_its_place() -> None:
    good, bad = (
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {"role": "user", "content": [{"type": "image"}]},
    )
    value = json.dumps(
        {"url": "/v1/chat/completions", "body": {"model": "sim", "messages": [good] * 20_000 + [bad]}}
    )
    letter, _ = one_bad_among_good(value.encode())
    assert letter.failure.error_class == "invalid"
    assert "messages[20000].content[0]" in letter.failure.message


def test_an_unknown_endpoint_gets_the_nearest_name() -> None:
    letter, _ = one_bad_among_good(line(body_model="simm"))
    assert (letter.failure.error_class, letter.failure.stage) == ("unknown_endpoint", "route")
    assert 'did you mean "sim"?' in letter.failure.message
    assert letter.endpoint == "simm"


def test_an_endpoint_name_of_a_mebibyte_does_not_swell_the_message() -> None:
    letter, _ = one_bad_among_good(line(body_model="m" * 500_000))
    assert letter.failure.error_class == "unknown_endpoint"
    assert len(letter.failure.message) < 2048
    assert letter.endpoint == "m" * ENDPOINT_CHARS_MAX


def test_a_deadline_that_has_passed_is_expired_and_never_runs() -> None:
    letter, _ = one_bad_among_good(GOOD, [("headrace-deadline-ms", str(NOW_MS - 1).encode())])
    assert (letter.failure.error_class, letter.failure.stage) == ("expired", "route")


def test_a_value_too_large_for_the_dead_letter_topic_is_left_out_and_its_size_told() -> None:
    value = b"x" * (18 * 1024 * 1024)
    stage = Stage()
    stage.admin.delete(["headrace.requests"], 1)
    stage.topic("headrace.requests", 8, max_message_bytes=str(19 * 1024 * 1024))
    stage.send(value, GOOD, key=b"k", headers=[("mine", b"1")])
    stage.dispatch()
    [letter] = stage.dead
    assert (letter.failure.error_class, letter.value, letter.value_omitted) == (
        "unreadable",
        None,
        len(value),
    )
    assert (letter.key, letter.original_headers) == (b"k", [("mine", b"1")])
    assert len(stage.work) == 1
    stage.assert_each_input_has_one_output()


def test_the_message_of_a_dead_letter_is_at_most_2_kib() -> None:
    letter, _ = one_bad_among_good(line(url="/" + "x" * 100_000))
    assert len(letter.failure.message.encode()) <= 2048


@pytest.mark.parametrize(
    ("reply_to", "class_", "stage_name"),
    [
        (b"headrace.replies.none", "unwritable", "route"),
        (b"headrace.results:99", "unwritable", "route"),
        (b"other", "invalid", "validate"),
    ],
)
def test_a_reply_topic_is_looked_up_before_its_first_use(
    reply_to: bytes, class_: str, stage_name: str
) -> None:
    letter, _ = one_bad_among_good(GOOD, [("headrace-reply-to", reply_to)])
    assert (letter.failure.error_class, letter.failure.stage) == (class_, stage_name)


def test_a_compacted_reply_topic_is_refused_before_anything_runs_with_a_key_and_without() -> None:
    stage = Stage()
    stage.topic("headrace.replies.app", cleanup_policy="compact")
    stage.send(GOOD, headers=[("headrace-reply-to", b"headrace.replies.app")])
    stage.send(GOOD, key=b"k", headers=[("headrace-reply-to", b"headrace.replies.app")])
    stage.dispatch()
    found = [(letter.failure.error_class, letter.failure.stage) for letter in stage.dead]
    assert (found, stage.work) == ([("unwritable", "route")] * 2, [])


def test_errors_asked_for_as_results_carry_the_class_in_the_result_line() -> None:
    stage = Stage()
    stage.topic("headrace.replies.app")
    stage.send(line(body_n=9), key=b"k", headers=[("headrace-errors", b"result"), ("mine", b"1")])
    stage.send(
        b"no", headers=[("headrace-errors", b"result"), ("headrace-reply-to", b"headrace.replies.app:0")]
    )
    stage.send(
        b"no", headers=[("headrace-errors", b"result"), ("headrace-reply-to", b"headrace.replies.none")]
    )
    stage.send(GOOD)
    stage.dispatch()
    [result] = stage.records("headrace.results")
    told = json.loads(result.value() or b"")
    assert (told["error"]["code"], told["response"], result.key()) == ("invalid", None, b"k")
    assert told["custom_id"] == "r-1", "whoever sent it knows it by this alone"
    assert ("mine", b"1") in (result.headers() or [])
    [reply] = stage.records("headrace.replies.app")
    assert json.loads(reply.value() or b"")["error"]["code"] == "unreadable"
    [letter] = stage.dead
    assert (letter.failure.error_class, letter.source.offset) == ("unreadable", 2)
    assert len(stage.work) == 1


def test_a_thousand_bad_records_are_a_thousand_dead_letters() -> None:
    stage = Stage()
    stage.send(*[b"no" if i % 2 else GOOD for i in range(2000)])
    stage.dispatch()
    assert len(stage.dead) == len(stage.work) == 1000
    stage.assert_each_input_has_one_output()
