"""A record as a line, also one that the client cannot give whole."""

from __future__ import annotations

import json

import pytest

from stream.cli.finding.wanted import source_of
from stream.client.record_line import record_line
from tests.stream.unreadable import Unreadable


@pytest.mark.parametrize("as_bytes", [True, False])
def test_a_record_with_a_header_name_that_is_not_utf8_comes_without_its_headers(as_bytes: bool) -> None:
    told = json.loads(record_line(Unreadable(), as_bytes=as_bytes))
    assert (told["headers"], told["headers_note"]) == (None, "a header's name is not UTF-8")
    assert (told["partition"], told["offset"], told["encoding"]) == (1, 7, "base64" if as_bytes else "json")


def test_such_a_record_is_nobodys_output() -> None:
    assert source_of(Unreadable()) is None
