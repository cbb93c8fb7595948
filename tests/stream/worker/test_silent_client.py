"""A worker whose own client has no answer, though others have, ends: at rest too."""

from __future__ import annotations

from typing import NoReturn

import pytest

from stream.errors import ClientSilent, LogTimeout
from tests.stream.worker.house import House, Worker


def silenced(error: Exception) -> Worker:
    def committed(*_: object) -> NoReturn:
        raise error

    worker = House().worker().turn(10)
    worker.sockets.consumer.committed = committed  # type: ignore[method-assign, assignment]
    return worker


def test_it_is_noticed_within_a_minute_or_so() -> None:
    worker = silenced(ClientSilent("no answer"))
    with pytest.raises(ClientSilent):
        worker.turn(1_200)


def test_a_coordinator_that_is_slow_for_everybody_is_asked_again() -> None:
    worker = silenced(LogTimeout("late"))
    worker.turn(3_000)
    worker.close()
