"""Whose outputs may go, and whose run may start."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stream.exactly_once.session_order import SessionOrder

S = ("t", "s")


def test_later_records_of_a_session_start_at_once_and_go_in_their_order() -> None:
    order: SessionOrder[int] = SessionOrder()
    assert [order.admit(S, number) for number in (1, 2, 3, 4)] == [True] * 4
    assert order.finish(S, 3, 10) == []
    assert order.finish(S, 2, 20) == []
    assert (order.finished, order.finished_bytes) == (2, 30)
    assert order.is_first(S, 1)
    assert order.finish(S, 1, 5) == [1, 2, 3]
    assert (order.finished, order.finished_bytes) == (0, 0)
    assert order.is_first(S, 4)
    assert order.finish(S, 4, 5) == [4]


def test_with_serial_order_a_later_record_does_not_start_before_the_one_before_is_done() -> None:
    order: SessionOrder[int] = SessionOrder(serial=True)
    assert [order.admit(S, number) for number in (1, 2, 3)] == [True, False, False]
    assert order.finish(S, 1, 0) == [1]
    assert order.first(S) == 2
    assert order.finish(S, 2, 0) == [2]
    assert order.finish(S, 3, 0) == [3]
    assert order.first(S) is None


def test_what_ended_without_a_run_keeps_its_turn_in_serial_order_too() -> None:
    order: SessionOrder[int] = SessionOrder(serial=True)
    for number in (1, 2, 3):
        order.admit(S, number)
    assert order.finish(S, 2, 7) == []
    assert order.finish(S, 1, 0) == [1, 2]
    assert order.first(S) == 3


def test_equal_sessions_of_two_tenants_do_not_meet() -> None:
    order: SessionOrder[int] = SessionOrder(serial=True)
    assert order.admit(("t", "s"), 1)
    assert order.admit(("u", "s"), 2)


@given(st.lists(st.sampled_from("abc"), max_size=30), st.randoms())
def test_outputs_go_in_order_whatever_finishes_first_and_nothing_is_remembered(
    sessions: list[str], draw: object
) -> None:
    order: SessionOrder[int] = SessionOrder()
    for number, session in enumerate(sessions):
        order.admit(("t", session), number)
    left = list(range(len(sessions)))
    draw.shuffle(left)  # type: ignore[attr-defined]
    gone: list[int] = []
    for number in left:
        gone += order.finish(("t", sessions[number]), number, 1)
    assert sorted(gone) == sorted(left)
    for session in set(sessions):
        mine = [number for number in gone if sessions[number] == session]
        assert mine == sorted(mine)
    assert not order._first
    assert not order._behind
    assert not order.finished_bytes
