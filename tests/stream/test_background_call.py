"""A call aside: what is done meanwhile, and whose error comes out."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from stream.background_call import BackgroundCalls, nothing


def test_without_anything_to_do_meanwhile_it_is_called_here() -> None:
    assert BackgroundCalls[Any]().make(threading.current_thread, nothing) is threading.current_thread()


def test_something_is_done_for_as_long_as_the_call_lasts() -> None:
    enough = threading.Event()
    turns: list[int] = []

    def meanwhile() -> bool:
        turns.append(len(turns))
        if len(turns) == 5:
            enough.set()
        return len(turns) % 2 == 0

    assert BackgroundCalls[Any]().make(lambda: enough.wait(30), meanwhile)
    assert len(turns) >= 5


def test_meanwhile_is_not_asked_again_once_it_has_nothing_left() -> None:
    answers = iter([True, True, None])
    assert BackgroundCalls[Any]().make(lambda: "done", lambda: next(answers)) == "done"


def test_what_the_call_raises_comes_out() -> None:
    def fails() -> None:
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        BackgroundCalls[Any]().make(fails, lambda: False)


def test_what_meanwhile_raises_comes_out_after_the_call_has_ended() -> None:
    begun, ended = threading.Event(), threading.Event()

    def call() -> None:
        begun.wait(30)
        ended.set()

    asked = []

    def meanwhile() -> bool:
        asked.append(1)
        if len(asked) > 1:
            begun.set()
            raise ValueError("broken")
        return True

    with pytest.raises(ValueError, match="broken"):
        BackgroundCalls[Any]().make(call, meanwhile)
    assert ended.is_set()


def test_its_thread_ends_with_it() -> None:
    before = set(threading.enumerate())
    aside: BackgroundCalls[int] = BackgroundCalls()
    assert [aside.make(lambda: 1, lambda: False), aside.make(lambda: 2, lambda: True)] == [1, 2]
    (thread,) = set(threading.enumerate()) - before
    del aside
    thread.join(20)
    assert not thread.is_alive()
