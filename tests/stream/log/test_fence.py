"""A fenced member starts again, unless a twin owns its slot."""

from __future__ import annotations

import pytest

from stream.errors import LogError, LogFenced, MemberFenced
from stream.log.fence import twins_told_apart
from stream.log.memory.log import MemoryLog


def ending(log: MemoryLog, *, twin: bool) -> LogError:
    """How a member ends whose group says that it is fenced."""
    consumer, producer = log.consumer("g", "g.00"), log.producer("g.00")
    producer.start(1)
    if twin:
        log.producer("g.00").start(1)
    with pytest.raises(LogError) as told, twins_told_apart(producer, consumer):
        raise MemberFenced("the broker says so")
    return told.value


def test_with_a_twin_it_ends_for_good() -> None:
    assert isinstance(ending(MemoryLog(), twin=True), LogFenced)


def test_without_one_it_is_started_again() -> None:
    error = ending(MemoryLog(), twin=False)
    assert not isinstance(error, LogFenced)
    assert error.exit_code == 1
