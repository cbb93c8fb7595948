"""The demo's sum counts what it must."""

from __future__ import annotations

import msgspec

from schemas import headers as names
from stream.demo.samples import samples
from stream.demo.tally import Outcome, read_outcome, tally

SOURCES = ["in/0/0", "in/0/1", "in/1/0"]


def test_one_output_for_each_input_is_exact() -> None:
    sums = tally(
        SOURCES, [Outcome("in/0/0", "a"), Outcome("in/0/1", None, "invalid"), Outcome("in/1/0", "b")]
    )
    assert sums.exact
    assert (sums.results, sums.dead_letters) == (2, 1)


def test_a_missing_output_is_not_exact() -> None:
    sums = tally(SOURCES, [Outcome("in/0/0", "a"), Outcome("in/0/1", "b")])
    assert not sums.exact
    assert sums.missing == 1


def test_a_result_and_a_dead_letter_of_one_input_are_not_exact() -> None:
    outcomes = [Outcome(source, "a") for source in SOURCES] + [Outcome("in/0/0", None, "engine")]
    sums = tally(SOURCES, outcomes)
    assert not sums.exact
    assert sums.repeated == 1


def test_an_output_of_no_input_is_not_exact() -> None:
    sums = tally(SOURCES[:1], [Outcome("in/0/0", "a"), Outcome("in/7/7", "b")])
    assert not sums.exact
    assert sums.strangers == 1


def test_a_result_is_read_with_its_source_and_text() -> None:
    value = msgspec.json.encode({"response": {"body": {"choices": [{"message": {"content": "fine"}}]}}})
    assert read_outcome(value, [(names.SOURCE, b"in/0/0")]) == Outcome("in/0/0", "fine")


def test_a_dead_letter_is_known_by_its_class_header() -> None:
    headers: names.Headers = [
        (names.SOURCE, b"in/0/1"),
        (names.ERROR_CLASS, b"invalid"),
        (names.STAGE, b"validate"),
        (names.DLQ_PREFIX + "message", b"why"),
    ]
    assert read_outcome(b"original", headers) == Outcome("in/0/1", None, "invalid", "validate", "why")


def test_the_samples_hold_two_records_a_review_and_a_handful_of_bad_ones() -> None:
    assert len(samples("smollm2")) == 2 * 40 + 6
