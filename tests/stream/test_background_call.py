"""A call in the background: what is done meanwhile, whose error comes out, and what becomes of one that never ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from stream import background_call
from stream.background_call import BackgroundCall, CallStuck, Meanwhile, nothing

NEVER_S = 60.0


@pytest.fixture
def calls() -> Iterator[BackgroundCall]:
    made = BackgroundCall("calls")
    yield made
    made.close()


def going_on() -> bool:
    return False


def test_without_a_bound_or_anything_to_do_meanwhile_it_is_made_here(calls: BackgroundCall) -> None:
    assert calls.make(threading.current_thread) is threading.current_thread()


def test_with_a_bound_it_is_made_elsewhere(calls: BackgroundCall) -> None:
    assert calls.make(threading.current_thread, wait_s=NEVER_S).name == "calls"


def test_something_is_done_for_as_long_as_the_call_lasts(calls: BackgroundCall) -> None:
    enough = threading.Event()
    turns: list[int] = []

    def meanwhile() -> bool:
        turns.append(len(turns))
        if len(turns) == 5:
            enough.set()
        return len(turns) % 2 == 0

    assert calls.make(partial(enough.wait, 30), meanwhile)
    assert len(turns) >= 5


def test_meanwhile_is_not_asked_again_once_it_has_nothing_left(calls: BackgroundCall) -> None:
    answers = iter([True, True, None])
    assert calls.make(lambda: "done", lambda: next(answers)) == "done"


@pytest.mark.parametrize(
    ("meanwhile", "wait_s"), [(going_on, float("inf")), (nothing, NEVER_S), (going_on, NEVER_S)]
)
def test_what_the_call_raises_comes_out(calls: BackgroundCall, meanwhile: Meanwhile, wait_s: float) -> None:
    def fails() -> None:
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        calls.make(fails, meanwhile, wait_s=wait_s)


def failing_at_the_second(act: Callable[[], None]) -> Meanwhile:
    asked: list[int] = []

    def meanwhile() -> bool:
        asked.append(1)
        if len(asked) > 1:
            act()
            raise ValueError("broken")
        return True

    return meanwhile


def test_what_meanwhile_raises_comes_out_after_the_call_has_ended(calls: BackgroundCall) -> None:
    begun, ended = threading.Event(), threading.Event()

    def call() -> None:
        begun.wait(30)
        ended.set()

    with pytest.raises(ValueError, match="broken"):
        calls.make(call, failing_at_the_second(begun.set))
    assert ended.is_set()
    assert calls.make(lambda: 1, going_on) == 1, "no end of an earlier call is left over"


@pytest.mark.parametrize("meanwhile", [nothing, going_on])
def test_a_stuck_call_is_given_up_and_no_other_is_made_after_it(
    calls: BackgroundCall, meanwhile: Meanwhile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_call, "AWAKE_S", 0.01)
    release = threading.Event()
    with pytest.raises(CallStuck):
        calls.make(release.wait, meanwhile, wait_s=0.05)
    assert calls.stuck
    with pytest.raises(CallStuck):
        calls.make(lambda: pytest.fail("made after a stuck one"), wait_s=NEVER_S)
    release.set()


def test_a_stuck_call_does_not_hide_what_meanwhile_raised(
    calls: BackgroundCall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_call, "AWAKE_S", 0.01)
    release = threading.Event()
    with pytest.raises(ValueError, match="broken"):
        calls.make(release.wait, failing_at_the_second(lambda: None), wait_s=0.05)
    assert calls.stuck
    release.set()


def test_a_call_that_was_stopped_with_its_whole_process_is_not_stuck(
    calls: BackgroundCall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the clock had passed over all of its time at once."""
    monkeypatch.setattr(background_call, "AWAKE_S", 60.0)
    calls.make(partial(time.sleep, 0.05), wait_s=0.0)
    assert not calls.stuck


def test_its_thread_ends_with_it() -> None:
    before = set(threading.enumerate())
    calls = BackgroundCall("calls")
    assert [calls.make(lambda: 1, lambda: False), calls.make(lambda: 2, lambda: True)] == [1, 2]
    (thread,) = set(threading.enumerate()) - before
    del calls
    thread.join(20)
    assert not thread.is_alive()
