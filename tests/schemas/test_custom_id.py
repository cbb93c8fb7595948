"""The custom_id of lines that are no good requests."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.custom_id import SEARCHED_BYTES_MAX, custom_id_in
from schemas.errors import BadRecord
from schemas.json_line import request_of_json


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (b'{"custom_id":"a","body":7}', "a"),
        (b'{"body":{"custom_id":"inner"},"custom_id":"a"}', "a"),
        (b'{"body":{"custom_id":"inner"}}', None),
        (b'{"custom_id":null}', None),
        (b'{"custom_id":7}', None),
        (b"{}", None),
        (b"[]", None),
        (b"\xff", None),
        (b"", None),
        (None, None),
    ],
)
def test_it_is_read_from_json_as_the_outermost_text(value: bytes | None, found: str | None) -> None:
    assert custom_id_in(value) == found


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (b'{"custom_id":"a"', "a"),
        (b'{"custom_id":"a', None),
        (b'{"custom_id" : "a", "body": {"x": 1,}}', "a"),
        (b'\xef\xbb\xbf{"custom_id":"a"}', "a"),
        (b'{"custom_id":"\\u00fc-\xc3\xbc"', "ü-ü"),
        (b'{"custom_id":"a\\"b"', 'a"b'),
        (b'{"custom_id":"a\xff","x"', "a\\xff"),
        (b'{"custom_id":"\\q"', "\\q"),
        (b"{'custom_id': 'a', 'method': 'POST'}", "a"),
        (b'{custom_id: "a"}', "a"),
        (b'{"custom_id": 17, "x"', "17"),
        (b'{"body":{"custom_id":"inner"},"custom_id":"outer",}', "outer"),
        (b'{"body":{"custom_id":"inner",', "inner"),
        (b'{"body":{"x":{"custom_id":"deep"},"custom_id":"inner",', "inner"),
        (b'{"text":"say \\"custom_id\\": \\"no\\"","custom_id":"a",', "a"),
        (b'{"text":"a brace } in a text","custom_id":"a",', "a"),
        ('{"custom_id":"a"}'.encode("utf-16"), "a"),
        (b'{"custom_id":"a","x":' + b"[" * 10_000 + b"]" * 10_000 + b"}", "a"),
        (b'{"custom_id":"a"} {"custom_id":"b"}', "a"),
        (b'{"text":"a 5" screen","custom_id":"a"}', "a"),
        (b'{"text":"a "5" screen","custom_id":"a"}', "a"),
        (b'"custom_id":"a"', None),
        (b'["custom_id":"a"', None),
        (b"{" + b" " * SEARCHED_BYTES_MAX + b'"custom_id":"a"', None),
    ],
)
def test_it_is_dug_out_of_what_is_not_json(value: bytes, found: str | None) -> None:
    assert custom_id_in(value) == found


@given(st.binary())
def test_nothing_is_raised(value: bytes) -> None:
    custom_id_in(value)
    custom_id_in(b'{"custom_id":"' + value)


@given(st.text(), st.integers(1, 40))
def test_a_cut_line_gives_its_id(custom_id: str, cut: int) -> None:
    line = json.dumps({"custom_id": custom_id, "body": {"messages": [{"role": "user", "content": "x" * 40}]}})
    assert custom_id_in(line[:-cut].encode()) == custom_id


@pytest.mark.parametrize("half", [rb"\ud800", rb"\uDBFFx"])
def test_half_a_character_is_told_with_its_place(half: bytes) -> None:
    with pytest.raises(BadRecord) as wrong:
        request_of_json(b'{"custom_id":"' + half + b'"}')
    assert "at byte 14 is half a character" in wrong.value.failure.message
