"""A replay that was halted while another ran: its id is taken back, and nothing is repeated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stream.errors import LogFenced
from stream.log.base import Outcome
from stream.log.memory.producer import MemoryProducer
from stream.replay.decisions import replay
from stream.replay.find import Wanted
from stream.replay.steps_transaction import Done
from tests.stream.dispatcher.stage import INPUT, Stage
from tests.stream.replay.test_replay import outcomes, run, stage_with_letters


class Halted(Wanted):
    """`act` is done while the letters are read, before the one at `place`."""

    def matches(self, found: object) -> bool:
        acts.pop(0)()
        return True


acts: list[Callable[[], object]] = []


def tainted(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes the next transaction of every replay begin with a new client, as after a lost connection."""

    def taint() -> None:
        publish = MemoryProducer.publish

        def renewing(self: MemoryProducer, *given: Any, **names: Any) -> Outcome:
            monkeypatch.setattr(MemoryProducer, "publish", publish)
            self.start(1)
            return publish(self, *given, **names)

        monkeypatch.setattr(MemoryProducer, "publish", renewing)

    return taint


@pytest.mark.parametrize("again", [False, True])
def test_a_replay_that_takes_its_id_back_repeats_nothing_of_the_one_that_ran_meanwhile(
    again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = stage_with_letters()
    other: list[Done] = []
    acts[:] = [lambda: other.extend(run(stage)), tainted(stage, monkeypatch), lambda: None]
    first = replay(stage.log, stage.settings, Halted(), again=again)
    if again:
        with pytest.raises(LogFenced, match="another replay"):
            list(first)
    else:
        assert outcomes(list(first)) == ["already"] * 3
    assert outcomes(other) == ["replayed"] * 3
    assert len(stage.records(INPUT)) == 7


def test_a_replay_that_takes_its_id_back_from_nobody_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = stage_with_letters()
    tainted(stage, monkeypatch)()
    assert outcomes(run(stage)) == ["replayed"] * 3
    assert len(stage.records(INPUT)) == 7
