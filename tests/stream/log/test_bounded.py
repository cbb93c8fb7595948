"""A call that never comes back holds up nobody but its own thread."""

from __future__ import annotations

import threading
import time

import pytest

from stream.log import bounded
from stream.log.bounded import BoundedCalls, CallStuck


def test_a_call_is_made_elsewhere_with_its_arguments_and_what_it_raises_comes_out() -> None:
    calls = BoundedCalls()
    seen: list[object] = []
    calls.make(lambda *got: seen.extend([*got, threading.get_ident()]), 1, "two", wait_s=60)
    assert seen[:2] == [1, "two"]
    assert seen[2] != threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        calls.make(lambda: 1 / 0, wait_s=60)
    calls.close()


def test_a_stuck_call_is_given_up_and_no_other_is_made_after_it() -> None:
    calls = BoundedCalls()
    release = threading.Event()
    with pytest.raises(CallStuck):
        calls.make(release.wait, wait_s=0.05)
    with pytest.raises(CallStuck):
        calls.make(pytest.fail, "made after a stuck one", wait_s=60)
    release.set()
    calls.close()


def test_a_call_that_was_stopped_with_its_whole_process_is_not_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the clock had passed over all of its time at once."""
    monkeypatch.setattr(bounded, "AWAKE_S", 60.0)
    calls = BoundedCalls()
    calls.make(time.sleep, 0.05, wait_s=0.0)
    assert not calls.stuck
    calls.close()
