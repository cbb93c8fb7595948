"""A reply topic that is there and takes nothing: the dispatcher's own error results go nowhere else in its order."""

from __future__ import annotations

from typing import Any

import pytest

from stream.dispatcher.loop import Dispatcher
from stream.exactly_once.reply_topics import FAILURES_MAX, QUARANTINE_S
from stream.log.base import Aborted, Outcome, Output
from tests.stream.dispatcher.stage import Stage, line

SICK = "headrace.replies.sick"
TO_SICK: list[tuple[str, bytes | None]] = [
    ("headrace-reply-to", SICK.encode()),
    ("headrace-errors", b"result"),
]


def failing(stage: Stage, made: Dispatcher, monkeypatch: pytest.MonkeyPatch, outcome: Aborted) -> list[float]:
    """Transactions with that topic end so; when each was tried."""
    publish, tries = made._producer.publish, []

    def published(outputs: list[Output], *rest: Any, **names: Any) -> Outcome:
        if any(output.topic == SICK for output in outputs):
            stage.seconds += 30
            tries.append(stage.seconds)
            return outcome
        return publish(outputs, *rest, **names)

    monkeypatch.setattr(made._producer, "publish", published)
    return tries


def test_its_records_become_dead_letters_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    stage.topic(SICK)
    stage.send(b"not json", b"not json either", headers=TO_SICK)
    stage.send(*[line() for _ in range(5)])
    made = stage.dispatcher()
    tries = failing(stage, made, monkeypatch, Aborted("delivery_timed_out", {}))
    for _ in range(20):
        made.turn()
    assert len(tries) == FAILURES_MAX
    stage.send(b"not json", headers=TO_SICK)
    for _ in range(20):
        made.turn()
    assert len(tries) == FAILURES_MAX, "it is set aside"
    stage.assert_each_input_has_one_output()
    assert [letter.failure.error_class for letter in stage.dead][:2] == ["unwritable"] * 2
    stage.seconds += QUARANTINE_S
    stage.send(b"not json", headers=TO_SICK)
    for _ in range(20):
        made.turn()
    assert len(tries) == 2 * FAILURES_MAX
    made.close()


def test_a_refusal_that_is_gone_when_each_topic_is_tried_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    stage.send(line())
    made = stage.dispatcher()
    publish, once = made._producer.publish, [Aborted("unauthorised", {}, delivery=True)]

    def published(outputs: list[Output], *rest: Any, **names: Any) -> Outcome:
        return once.pop() if outputs and once else publish(outputs, *rest, **names)

    monkeypatch.setattr(made._producer, "publish", published)
    for _ in range(12):
        made.turn()
    made.close()
    stage.assert_each_input_has_one_output()
