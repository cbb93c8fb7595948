"""What is JSON of ours and what is not: each bad value is one BadRecord of class `unreadable` at `decode`."""

from __future__ import annotations

import json

import pytest

from schemas.decode import Decoder
from schemas.errors import BadRecord
from schemas.failure import ErrorClass, Stage
from schemas.request import Body, Message, Request, Task
from tests.schemas.lines import as_json, chat, with_unknown

DECODER = Decoder()
HUGE = b"1" + b"0" * 400

UNREADABLE = {
    "a tombstone": None,
    "an empty value": b"",
    "spaces": b"  \n",
    "text": b"hello",
    "a cut object": as_json(chat())[:-1],
    "an array": b"[1]",
    "a number": b"3",
    "null": b"null",
    "a string": b'"text"',
    "an array of a line": b"[" + as_json(chat()) + b"]",
    "two values": as_json(chat()) + b" {}",
    "two lines": as_json(chat()) + b"\n" + as_json(chat()),
    "a byte order mark": b"\xef\xbb\xbf" + as_json(chat()),
    "UTF-16": json.dumps(chat()).encode("utf-16"),
    "a trailing zero byte": as_json(chat()) + b"\0",
    "invalid UTF-8 in a field we read": as_json(chat(model="MARK")).replace(b"MARK", b"\xff"),
    "invalid UTF-8 in a field we skip": with_unknown(b'"\xff"'),
    "an encoded surrogate": with_unknown(b'"\xed\xa0\x80"'),
    "an overlong encoding": with_unknown(b'"\xc0\xaf"'),
    "a lone high surrogate": with_unknown(b'"\\ud800"'),
    "a lone low surrogate": with_unknown(b'"\\udc00"'),
    "a lone surrogate in a field we read": as_json(chat(model="MARK")).replace(b"MARK", b"\\ud800x"),
    "a high surrogate before another escape": with_unknown(b'"\\ud800\\u0041"'),
    "10,000 levels of arrays": with_unknown(b"[" * 10_000 + b"]" * 10_000),
    "10,000 levels of objects": with_unknown(b'{"a":' * 10_000 + b"1" + b"}" * 10_000),
    "10,000 levels and no end": b"[" * 10_000,
    "64 levels below the line": with_unknown(b"[" * 64 + b"]" * 64),
    "mixed levels": with_unknown(b'[{"a":' * 40 + b"1" + b"}]" * 40),
    "deep levels in a field we read": as_json(chat(response_format="MARK")).replace(
        b'"MARK"', b'{"type":"text","a":' + b"[" * 70 + b"]" * 70 + b"}"
    ),
    "deep levels in a part": as_json(chat(messages="MARK")).replace(
        b'"MARK"',
        b'[{"role":"user","content":[{"type":"text","text":"x","a":' + b"[" * 70 + b"]" * 70 + b"}]}]",
    ),
    "NaN": with_unknown(b"NaN"),
    "Infinity": with_unknown(b"Infinity"),
    "-Infinity": as_json(chat(temperature="MARK")).replace(b'"MARK"', b"-Infinity"),
    "a comment": with_unknown(b"/* no */ 1"),
    "a trailing comma": with_unknown(b"[1,]"),
    "single quotes": with_unknown(b"'a'"),
    "a control character": with_unknown(b'"a\nb"'),
    "an unknown escape": with_unknown(b'"\\x41"'),
    "a leading zero": with_unknown(b"01"),
    "a wrong field first, then no JSON": as_json(chat(model=5))[:-1],
    "a missing field, then no JSON": b'{"url": "/v1/embeddings"} trailing',
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_it_is_unreadable(name: str) -> None:
    with pytest.raises(BadRecord) as caught:
        DECODER.decode(UNREADABLE[name])
    failure = caught.value.failure
    assert (failure.error_class, failure.stage) == (ErrorClass.UNREADABLE, Stage.DECODE)
    assert failure.message


def test_a_value_above_the_bound_is_unreadable_and_says_both_sizes() -> None:
    with pytest.raises(BadRecord, match="101 bytes is too large; at most 100") as caught:
        Decoder(value_bytes_max=100).decode(b"x" * 101)
    assert caught.value.failure.error_class is ErrorClass.UNREADABLE


def test_12_mb_of_text_are_read_within_the_default_bound() -> None:
    request = DECODER.decode(as_json(chat(messages=[{"role": "user", "content": "x" * 12_000_000}])))
    assert request.body.messages is not None
    assert len(request.body.messages[0].content or "") == 12_000_000


def test_12_mb_of_brackets_and_quotes_are_refused_in_linear_time() -> None:
    for hostile in (b'["\\"' * 3_000_000, b'"' + b"\\" * 12_000_000, b"[]" * 6_000_000, b'{"":' * 3_000_000):
        with pytest.raises(BadRecord):
            DECODER.decode(hostile)


def test_a_good_line_becomes_a_request() -> None:
    assert DECODER.decode(as_json(chat(max_tokens=32))) == Request(
        Task.CHAT, Body("sim", [Message("user", "Hello")], max_tokens=32), "r-1"
    )


ODD_BUT_GOOD = {
    "unknown fields everywhere": as_json(
        {
            **chat(messages=[{"role": "user", "content": "Hello", "x": 1}], unheard=True, y={"z": [1]}),
            "extra": None,
        }
    ),
    "1e400 in an unknown field": with_unknown(b"1e400"),
    "10^400 in an unknown field": with_unknown(HUGE),
    "5,000 digits in an unknown field": with_unknown(b"9" * 5_000),
    "63 levels below the line": with_unknown(b"[" * 63 + b"]" * 63),
    "brackets in text are no levels": with_unknown(b'"' + b"[{" * 500 + b'"'),
    "escaped quotes and brackets in text": with_unknown(b'"' + b'\\"[\\\\' * 500 + b'"'),
    "many brackets side by side": with_unknown(b"[" + b"[],{}," * 500 + b"1]"),
    "spaces around": b" \r\n\t" + as_json(chat()) + b"\n",
    "no method": as_json({name: value for name, value in chat().items() if name != "method"}),
    "a repeated field": as_json(chat(model="other"))[:-1] + b', "body": ' + as_json(chat()["body"]) + b"}",
    "escaped pairs of surrogates": with_unknown(b'"\\ud83d\\ude00"'),
    "an escaped zero character": with_unknown(b'"\\u0000"'),
}


@pytest.mark.parametrize("name", ODD_BUT_GOOD)
def test_it_is_odd_but_good(name: str) -> None:
    request = DECODER.decode(ODD_BUT_GOOD[name])
    assert request.body == Body("sim", [Message("user", "Hello")])


def test_no_custom_id_is_good_and_so_is_one_of_50_kb() -> None:
    line = chat()
    del line["custom_id"]
    assert DECODER.decode(as_json(line)).custom_id is None
    assert DECODER.decode(as_json({**line, "custom_id": None})).custom_id is None
    assert DECODER.decode(as_json({**line, "custom_id": "c" * 50_000})).custom_id == "c" * 50_000


@pytest.mark.parametrize("escaped", [True, False])
def test_every_plane_of_unicode_is_good(escaped: bool) -> None:
    text = "".join(chr(plane * 0x10000 + 0x1234) for plane in range(17)) + "\u2028é\0\U0010ffff"
    value = json.dumps(chat(messages=[{"role": "user", "content": text}]), ensure_ascii=escaped).encode()
    request = DECODER.decode(value)
    assert request.body.messages == [Message("user", text)]


@pytest.mark.parametrize("content", ["", [{"type": "text", "text": ""}]])
def test_an_empty_text_is_good(content: object) -> None:
    DECODER.decode(as_json(chat(messages=[{"role": "user", "content": content}])))


@pytest.mark.parametrize("content", [None, []])
@pytest.mark.parametrize("role", ["system", "assistant", "tool"])
def test_no_content_is_good_but_of_a_user(role: str, content: object) -> None:
    DECODER.decode(as_json(chat(messages=[{"role": role, "content": content}])))
