"""The demo's sum counts what it must."""

from __future__ import annotations

from stream.client.answer import Answer
from stream.demo.samples import samples
from stream.demo.tally import tally

SOURCES = ["in/0/0", "in/0/1", "in/1/0"]


def test_one_output_for_each_input_is_exact() -> None:
    sums = tally(
        SOURCES,
        [Answer("in/0/0", None, b""), Answer("in/0/1", None, b"", "invalid"), Answer("in/1/0", None, b"")],
    )
    assert sums.exact
    assert (sums.results, sums.dead_letters) == (2, 1)


def test_a_missing_output_is_not_exact() -> None:
    sums = tally(SOURCES, [Answer("in/0/0", None, b""), Answer("in/0/1", None, b"")])
    assert not sums.exact
    assert sums.missing == 1


def test_a_result_and_a_dead_letter_of_one_input_are_not_exact() -> None:
    outcomes = [Answer(source, None, b"") for source in SOURCES] + [Answer("in/0/0", None, b"", "engine")]
    sums = tally(SOURCES, outcomes)
    assert not sums.exact
    assert sums.repeated == 1


def test_an_output_of_no_input_is_not_exact() -> None:
    sums = tally(SOURCES[:1], [Answer("in/0/0", None, b""), Answer("in/7/7", None, b"")])
    assert not sums.exact
    assert sums.strangers == 1


def test_the_samples_hold_two_records_a_review_and_a_handful_of_bad_ones() -> None:
    assert len(samples("smollm2")) == 2 * 40 + 6
