"""A client that has no answer, though others have, ends its process: at work, at rest, and in a look now and then."""

from __future__ import annotations

from typing import NoReturn

import pytest

from stream.dispatcher.loop import Dispatcher
from stream.errors import ClientSilent, LogTimeout
from tests.stream.dispatcher.stage import Stage, line
from tests.stream.dispatcher.test_set_aside import commit_by_hand


def silence(made: Dispatcher, error: Exception) -> None:
    def committed(*_: object) -> NoReturn:
        raise error

    made._consumer.committed = committed  # type: ignore[method-assign, assignment]


def test_a_dispatcher_at_rest_ends_within_a_minute() -> None:
    stage = Stage()
    made = stage.dispatcher()
    made.turn()
    silence(made, ClientSilent("no answer"))
    stage.seconds += 50
    made.turn()
    stage.seconds += 11
    with pytest.raises(ClientSilent):
        made.turn()


def test_a_coordinator_that_is_slow_for_everybody_is_asked_again() -> None:
    stage = Stage()
    made = stage.dispatcher()
    made.turn()
    silence(made, LogTimeout("late"))
    for _ in range(5):
        stage.seconds += 61
        made.turn()
    made.close()


def test_the_look_at_what_is_set_aside_does_not_swallow_it() -> None:
    stage = Stage()
    stage.send(line())
    commit_by_hand(stage, 1, "v1:nonsense")
    made = stage.dispatcher()
    made.turn()
    silence(made, ClientSilent("no answer"))
    stage.seconds += 11
    with pytest.raises(ClientSilent):
        made.turn()
