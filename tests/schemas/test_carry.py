"""The producer's headers come back byte for byte, whatever their names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schemas.carry import carry, carry_dead, passing, restore, split_replay
from schemas.headers import Header

NAMES = st.one_of(
    st.text(max_size=20),
    st.lists(
        st.sampled_from(
            ["headrace-", "headrace-in.", "__dlq.", "__dlq.errors.", "lane", "in.", "replay", "a"]
        ),
        max_size=5,
    ).map("".join),
)
HEADERS = st.lists(st.tuples(NAMES, st.none() | st.binary(max_size=10)), max_size=8)


@given(HEADERS)
def test_what_a_work_record_carries_is_restored_exactly(headers: list[Header]) -> None:
    own = split_replay(headers)[0] if headers else []
    assert restore(carry(headers)) == list(own)


@given(HEADERS)
def test_what_a_dead_letter_carries_is_restored_exactly(headers: list[Header]) -> None:
    own = split_replay(headers)[0] if headers else []
    assert restore(carry_dead(carry(headers))) == list(own)


@given(HEADERS)
def test_nothing_carried_can_be_taken_for_ours(headers: list[Header]) -> None:
    for name, _ in carry_dead(carry(headers)):
        assert name.startswith("headrace-in.") or not name.startswith(("headrace-", "__dlq.errors."))


@given(HEADERS)
def test_what_passes_to_a_result_is_what_was_no_control_header(headers: list[Header]) -> None:
    assert passing(carry(headers)) == [header for header in headers if not header[0].startswith("headrace-")]


def test_a_control_header_travels_under_its_short_name() -> None:
    assert carry([("headrace-lane", b"batch"), ("x", None)]) == (("headrace-in.lane", b"batch"), ("x", None))


def test_replayed_twice_leaves_one_count() -> None:
    once = [("a", b"1"), ("headrace-replay", b"1")]
    assert restore(carry(once)) == [("a", b"1")]
    assert split_replay(once) == ([("a", b"1")], 1)
