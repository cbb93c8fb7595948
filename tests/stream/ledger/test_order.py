"""One run at a time per session."""

from __future__ import annotations

from stream.ledger.order import SessionOrder


def test_later_records_of_a_session_wait_in_their_order() -> None:
    order: SessionOrder[int] = SessionOrder()
    assert order.admit(("t", "s"), 1)
    assert not order.admit(("t", "s"), 2)
    assert not order.admit(("t", "s"), 3)
    assert order.held == 2
    assert [order.done(("t", "s")) for _ in range(3)] == [2, 3, None]
    assert order.admit(("t", "s"), 4)


def test_equal_sessions_of_two_tenants_do_not_meet() -> None:
    order: SessionOrder[int] = SessionOrder()
    assert order.admit(("t", "s"), 1)
    assert order.admit(("u", "s"), 2)


def test_nothing_is_remembered_of_a_session_that_is_done() -> None:
    order: SessionOrder[int] = SessionOrder()
    for number in range(1_000):
        order.admit(("t", str(number)), number)
        order.done(("t", str(number)))
    assert not order._behind
