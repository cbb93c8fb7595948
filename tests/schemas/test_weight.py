"""What a record weighs: key, value, and every header with a weight of its own."""

from __future__ import annotations

from schemas.weight import HEADER_BYTES, record_weight


def test_key_and_value_weigh_what_they_hold() -> None:
    assert record_weight(b"key", b"value") == 8
    assert record_weight(None, None) == 0


def test_a_header_weighs_more_than_its_name_and_value() -> None:
    assert record_weight(None, None, [("ab", b"cde"), ("", None)]) == 2 * HEADER_BYTES + 5
