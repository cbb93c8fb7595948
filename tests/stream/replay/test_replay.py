"""A replay puts the original back exactly once, whatever becomes of its transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from schemas.dead_letter import DeadLetter
from schemas.failure import ErrorClass, Failure
from schemas.failure import Stage as Stage_
from schemas.headers import Headers
from schemas.source import Source
from stream.config.settings import InputBinding
from stream.errors import LogFenced
from stream.log.base import Partition
from stream.log.memory.log import Fault
from stream.replay.decisions import replay
from stream.replay.find import Wanted, find_dead_letters
from stream.replay.once import ATTEMPTS_MAX
from stream.replay.original import CannotReplay, Originals
from stream.replay.steps_transaction import Done
from tests.stream.dispatcher.stage import INPUT, Stage, line
from tests.stream.unreadable import UnreadableLog

GOOD = line()
HEADERS: Headers = [
    ("mine", b"\xff"),
    ("headrace-tenant", b"acme"),
    ("__dlq.errors.topic", b"theirs"),
    ("mine", None),
    ("headrace-in.lane", b"odd"),
]


def stage_with_letters() -> Stage:
    """Three dead letters: unreadable at 0, invalid at 1, unknown endpoint at 3."""
    stage = Stage()
    stage.send(b"no", key=b"\x00k", headers=HEADERS, partition=3)
    stage.send(line(body_n=99), GOOD, line(body_model="later"), partition=3)
    stage.dispatch()
    assert len(stage.dead) == 3
    return stage


def run(
    stage: Stage, wanted: Wanted | None = None, *, again: bool = False, dry_run: bool = False
) -> list[Done]:
    return list(replay(stage.log, stage.settings, wanted or Wanted(), again=again, dry_run=dry_run))


def outcomes(told: list[Done]) -> list[str]:
    return [one.outcome for one in told]


def test_the_original_goes_back_byte_for_byte_with_its_count() -> None:
    stage = stage_with_letters()
    assert outcomes(run(stage)) == ["replayed"] * 3
    back = stage.records(INPUT)[4:]
    assert {record.partition() for record in back} == {3}
    [first] = [record for record in back if record.value() == b"no"]
    assert first.key() == b"\x00k"
    assert first.headers() == [*HEADERS, ("headrace-replay", b"1")]
    stage.dispatch()
    again = [letter for letter in stage.dead if letter.replay == 1 and letter.value == b"no"]
    assert [letter.original_headers for letter in again] == [HEADERS]


def test_no_dead_letter_goes_twice_unless_asked_to() -> None:
    stage = stage_with_letters()
    run(stage)
    assert outcomes(run(stage)) == ["already"] * 3
    assert len(stage.records(INPUT)) == 7
    assert outcomes(run(stage, again=True)) == ["replayed"] * 3
    assert len(stage.records(INPUT)) == 10


def test_what_died_again_is_replayed_with_a_higher_count() -> None:
    stage = stage_with_letters()
    run(stage, Wanted(error_class=ErrorClass.UNREADABLE))
    stage.dispatch()
    told = run(stage, Wanted(error_class=ErrorClass.UNREADABLE))
    assert sorted(outcomes(told)) == ["already", "replayed"]
    counts = [dict(r.headers() or []).get("headrace-replay") for r in stage.records(INPUT)[4:]]
    assert counts == [b"1", b"2"]


def test_a_dry_run_writes_nothing_and_disturbs_nobody() -> None:
    stage = stage_with_letters()
    other = stage.log.producer("headrace.replay")
    other.start(1)
    assert outcomes(run(stage, dry_run=True)) == ["would"] * 3
    assert len(stage.records(INPUT)) == 4
    assert other.publish([], [], None).__class__.__name__ == "Success"


@pytest.mark.parametrize(
    ("wanted", "offsets"),
    [
        (Wanted(), [0, 1, 3]),
        (Wanted(error_class=ErrorClass.INVALID), [1]),
        (Wanted(tenant="acme"), [0]),
        (Wanted(source=Source(INPUT, 3, 3)), [3]),
        (Wanted(since_ms=1), [0, 1, 3]),
        (Wanted(since_ms=2**50), []),
    ],
)
def test_filters_choose(wanted: Wanted, offsets: list[int]) -> None:
    stage = stage_with_letters()
    found = [one.letter.source.offset for one in find_dead_letters(stage.log, stage.settings, wanted)]
    assert sorted(found) == offsets
    assert sorted(one.found.letter.source.offset for one in run(stage, wanted)) == offsets


@pytest.mark.parametrize("fault", list(Fault))
def test_an_abort_or_an_unknown_outcome_repeats_nothing(fault: Fault) -> None:
    stage = stage_with_letters()
    stage.log.inject("headrace.replay", fault)
    assert outcomes(run(stage)) == ["replayed"] * 3
    assert len(stage.records(INPUT)) == 7


def test_what_the_last_attempt_did_is_told_and_no_error() -> None:
    stage = stage_with_letters()
    stage.log.inject("headrace.replay", *[Fault.ABORTED] * (ATTEMPTS_MAX - 1), Fault.COMMITTED_UNKNOWN)
    assert outcomes(run(stage)) == ["replayed"] * 3


@pytest.mark.parametrize("fault", list(Fault))
def test_the_same_holds_for_a_second_replay(fault: Fault) -> None:
    stage = stage_with_letters()
    run(stage)
    stage.log.inject("headrace.replay", fault)
    assert outcomes(run(stage, again=True)) == ["replayed"] * 3
    assert len(stage.records(INPUT)) == 10


def test_a_second_replay_at_once_fences_the_first() -> None:
    stage = stage_with_letters()
    other = stage.log.producer("headrace.replay")

    class Taken(Wanted):
        """The other one starts while the letters are read."""

        def matches(self, found: object) -> bool:
            other.start(1)
            return True

    told = replay(stage.log, stage.settings, Taken())
    with pytest.raises(LogFenced):
        list(told)
    assert len(stage.records(INPUT)) == 4


def omitted(stage: Stage) -> bytes:
    """One dead letter without its value."""
    value = b"x" * (18 * 1024 * 1024)
    stage.admin.delete([INPUT], 1)
    stage.topic(INPUT, 8, max_message_bytes=str(19 * 1024 * 1024))
    stage.send(value, key=b"k", headers=[("mine", b"1")], partition=2)
    stage.dispatch()
    [letter] = stage.dead
    assert letter.value_omitted == len(value)
    return value


def test_a_value_that_was_left_out_is_fetched_from_its_source() -> None:
    stage = Stage()
    value = omitted(stage)
    assert outcomes(run(stage)) == ["replayed"]
    _, back = stage.records(INPUT)
    assert (back.value(), back.key()) == (value, b"k")
    assert back.headers() == [("mine", b"1"), ("headrace-replay", b"1")]


def test_a_value_that_was_left_out_and_is_gone_is_refused() -> None:
    stage = Stage()
    omitted(stage)
    stage.send(GOOD, partition=2)
    stage.admin.delete_records({Partition(INPUT, 2): 1}, 1)
    [told] = run(stage)
    assert (told.outcome, "is gone" in told.why) == ("refused", True)


def test_another_record_at_its_place_in_a_topic_made_anew_is_not_taken_for_it() -> None:
    stage = Stage()
    value = omitted(stage)
    stage.admin.delete([INPUT], 1)
    stage.topic(INPUT, 8, max_message_bytes=str(19 * 1024 * 1024))
    stage.send(b"y" * len(value), key=b"other", partition=2)
    [told] = run(stage)
    assert (told.outcome, "is gone" in told.why) == ("refused", True)


@pytest.mark.parametrize(
    "changes",
    [
        {"source_timestamp_ms": 6},
        {"key": b"other"},
        {"value_omitted": None, "headers_omitted": 9, "value": b"other"},
        {"value_omitted": 7},
    ],
)
def test_a_source_that_differs_in_anything_the_letter_holds_is_gone(changes: dict[str, Any]) -> None:
    failure = Failure(ErrorClass.INVALID, Stage_.VALIDATE, "x")
    letter = DeadLetter(b"k", None, (), Source(INPUT, 1, 7), 5, "group", failure, value_omitted=8)
    with pytest.raises(CannotReplay, match="is gone"):
        Originals(UnreadableLog(), Stage().settings).output(replace(letter, **changes))


def test_a_topic_that_takes_no_records_costs_only_its_own_letters() -> None:
    stage = stage_with_letters()
    stage.send(b"no", partition=7)
    stage.dispatch()
    stage.admin.delete([INPUT], 1)
    stage.topic(INPUT, 4)
    told = run(stage)
    assert sorted(outcomes(told)) == ["refused", "replayed", "replayed", "replayed"]
    assert [one.found.letter.source.partition for one in told if one.outcome == "refused"] == [7]


def test_a_topic_that_is_no_input_any_more_is_refused() -> None:
    stage = Stage()
    stage.topic("old")
    before = stage.settings
    stage.settings = replace(before, inputs=(*before.inputs, InputBinding("old")))
    stage.send(b"no", topic="old")
    stage.dispatch()
    stage.settings = before
    [told] = run(stage)
    assert (told.outcome, "nothing would read it" in told.why) == ("refused", True)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"0/0", b"not json"),
        (b"0/0", b"{}"),
        (b"0/0", b'{"source": 1, "run": "x"}'),
        (b"0/0", b"[" * 100_000),
        (b"\xff", b'{"source": "a/0/0", "run": "x"}'),
        (None, b"x"),
    ],
)
def test_a_foreign_record_among_the_markers_is_passed_over(key: bytes | None, value: bytes) -> None:
    stage = stage_with_letters()
    stage.send(value, key=key, topic=stage.settings.own_topic("replays"))
    assert outcomes(run(stage)) == ["replayed"] * 3
    stage.send(value, key=key, topic=stage.settings.own_topic("replays"))
    assert outcomes(run(stage)) == ["already"] * 3
