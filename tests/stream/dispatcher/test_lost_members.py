"""A dispatcher whose partitions have moved on without it: it neither repeats nor stands still."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stream.dispatcher.loop import Dispatcher
from stream.log.base import Aborted, Assignor, Outcome, Unknown
from stream.log.memory.consumer import MemoryConsumer
from stream.log.memory.log import Fault, MemoryLog
from tests.stream.dispatcher.stage import INPUT, NOW_MS, Stage, line

GOOD = line()


def turn(made: Dispatcher, times: int = 10) -> None:
    for _ in range(times):
        made.turn()


class RememberingLog(MemoryLog):
    """Hands out its last consumer, so that a test can make it a zombie."""

    last: MemoryConsumer

    def consumer(
        self,
        group: str,
        instance_id: str | None = None,
        *,
        assignor: Assignor = "range",
        regex_refresh_ms: int = 3_000,
    ) -> MemoryConsumer:
        self.last = super().consumer(group, instance_id, assignor=assignor, regex_refresh_ms=regex_refresh_ms)
        return self.last


def test_a_member_that_was_lost_with_records_in_hand_joins_again() -> None:
    """Between reading and committing the session times out: nothing may be committed, and only a poll can tell why."""
    log = RememberingLog()
    stage = Stage(log=log)
    zombies: list[int] = []

    def stall() -> int:
        if not zombies:
            log.last.lose()
            zombies.append(1)
        return NOW_MS

    made = Dispatcher(stage.settings, 0, replace(stage.parts, now_ms=stall), stage.admin)
    made.start()
    stage.send(GOOD, GOOD, b"no")
    turn(made, 30)
    made.close()
    assert zombies
    stage.assert_each_input_has_one_output()


def test_trouble_ends_with_the_partitions_it_was_about() -> None:
    """A transaction is aborted, its records are committed by another: who comes back must read, not serve for ever."""
    log = RememberingLog()
    stage = Stage(log=log)
    first = stage.dispatcher(0)
    zombie = log.last
    turn(first, 4)
    stage.send(GOOD, GOOD)
    stage.inject(Fault.ABORTED)
    first.turn()
    assert stage.work == []
    zombie.lose()
    second = stage.dispatcher(1)
    turn(second)
    assert len(stage.work) == 2
    log.last.lose()
    turn(first)
    stage.send(GOOD)
    turn(first)
    first.close()
    second.close()
    stage.assert_each_input_has_one_output()


def test_who_finds_all_it_holds_committed_by_another_polls_instead_of_waiting_for_ever() -> None:
    """The outcome of a transaction is unknown; another owner has committed it meanwhile, and what was read ahead too."""
    log = RememberingLog()
    stage = Stage(log=log)
    others: list[Dispatcher] = []

    def stall() -> int:
        if len(stage.records(INPUT)) == 2 and not others:  # the second record is being read ahead
            zombie.lose()
            others.append(stage.dispatcher(1))
            turn(others[0])
        return NOW_MS

    def send_another(point: str) -> None:
        if point == "produced" and len(stage.records(INPUT)) == 1:
            stage.send(GOOD)

    stage.reach = send_another
    first = Dispatcher(stage.settings, 0, replace(stage.parts, now_ms=stall), stage.admin)
    publish = first._producer.publish

    def stuck(*arguments: Any, **named: Any) -> Outcome:
        outcome = publish(*arguments, **named)
        return Unknown("stuck") if isinstance(outcome, Aborted) else outcome

    first._producer.publish = stuck  # type: ignore[method-assign]
    first.start()
    zombie = log.last
    turn(first, 4)
    stage.send(GOOD)
    turn(first, 30)
    assert len(stage.work) == 2
    log.last.lose()
    stage.send(GOOD)
    turn(first, 30)
    first.close()
    others[0].close()
    stage.assert_each_input_has_one_output()
