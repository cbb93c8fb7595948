"""The commit interval follows the cost of a transaction."""

from __future__ import annotations

import pytest

from stream.exactly_once.commit_interval import INTERVAL_S_MAX, CommitInterval


def after(least_s: float, *seconds: float) -> float:
    pace = CommitInterval(least_s)
    for one in seconds:
        pace.took(one)
    return pace.interval_s


def test_cheap_transactions_leave_the_configured_interval() -> None:
    assert after(0.1) == 0.1
    assert after(0.1, *[0.004] * 50) == 0.1


def test_dear_ones_are_made_more_seldom() -> None:
    assert after(0.1, *[0.03] * 50) == pytest.approx(0.6, rel=0.01)


def test_nobody_waits_longer_than_the_bound_unless_told_so() -> None:
    assert after(0.1, *[2.0] * 50) == INTERVAL_S_MAX
    assert after(2.0, *[2.0] * 50) == 2.0


def test_one_slow_one_changes_little() -> None:
    assert after(0.1, *[0.004] * 50, 0.03) < 0.2
