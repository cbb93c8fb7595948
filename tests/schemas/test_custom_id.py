"""The custom_id of lines that are no good requests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.custom_id import custom_id_in
from schemas.errors import BadRecord
from schemas.json_line import request_of_json


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (b'{"custom_id":"a","body":7}', "a"),
        (b'{"custom_id":null}', None),
        (b'{"custom_id":7}', None),
        (b"{}", None),
        (b"[]", None),
        (b'{"custom_id":"a"', None),
        (b"\xff", None),
        (b"", None),
        (None, None),
        (b'{"custom_id":"a","x":' + b"[" * 10_000 + b"]" * 10_000 + b"}", None),
    ],
)
def test_it_is_read_from_whole_json_only(value: bytes | None, found: str | None) -> None:
    assert custom_id_in(value) == found


@given(st.binary())
def test_nothing_is_raised(value: bytes) -> None:
    custom_id_in(value)


@pytest.mark.parametrize("half", [rb"\ud800", rb"\uDBFFx"])
def test_half_a_character_is_told_with_its_place(half: bytes) -> None:
    with pytest.raises(BadRecord) as wrong:
        request_of_json(b'{"custom_id":"' + half + b'"}')
    assert "at byte 14 is half a character" in wrong.value.failure.message
