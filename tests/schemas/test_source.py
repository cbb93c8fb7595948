"""A source is read back as it was written, and nothing else is taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given

from schemas.source import Source
from tests.schemas.strategies import SOURCES


@given(SOURCES)
def test_it_is_read_back_as_it_was_written(source: Source) -> None:
    assert Source.parse(str(source)) == source


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a/1",
        "/1/2",
        "a/1/2/3",
        "a/x/2",
        "a/1/",
        "a//2",
        "a/-1/2",
        "a/+1/2",
        "a/ 1/2",
        "a/1_0/2",
        "a/\u0661/2",
        "a/1/" + "9" * 50,
    ],
)
def test_anything_else_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="is not topic/partition/offset"):
        Source.parse(text)
