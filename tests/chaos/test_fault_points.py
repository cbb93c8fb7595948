"""Fault points: the syntax, and that a fault bites once, at the arrival that was asked for."""

from __future__ import annotations

import signal

import pytest

from stream.errors import UsageError
from stream.fault_points import Fault, FaultPoints


def test_a_fault_acts_once_at_its_arrival() -> None:
    acts: list[int] = []
    points = FaultPoints.parse("produced:kill:2, done:stop", acts.append)
    points.reach("produced")
    assert acts == []
    points.reach("produced")
    points.reach("produced")
    points.reach("committed")
    points.reach("done")
    assert acts == [signal.SIGKILL, signal.SIGSTOP]


def test_no_text_means_no_faults() -> None:
    points = FaultPoints.parse("", lambda _number: pytest.fail("acted without a fault"))
    points.reach("done")


@pytest.mark.parametrize("text", ["produced", "nowhere:kill", "done:explode", "done:kill:soon"])
def test_a_wrong_fault_is_refused_with_what_would_be_right(text: str) -> None:
    with pytest.raises(UsageError, match="expected POINT:ACTION"):
        FaultPoints.parse(text)


def test_nth_defaults_to_the_first_arrival() -> None:
    assert Fault.parse("begun:kill") == Fault("begun", "kill", 1)
