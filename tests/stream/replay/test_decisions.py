"""An edited value goes back once, what is closed goes nowhere, and each decision keeps the others from repeating it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from schemas.failure import ErrorClass
from stream.errors import LogFenced
from stream.log.base import Record
from stream.log.memory.log import Fault
from stream.replay.decisions import replay, resolve, send_edited
from stream.replay.find import FoundLetter, Wanted, find_dead_letters
from stream.replay.markers import REASON_CHARS_MAX, Kind, Marker, Markers
from stream.replay.once import Seams
from stream.replay.steps_transaction import Done
from tests.stream.dispatcher.stage import INPUT, NOW_MS, Stage, line
from tests.stream.replay.test_replay import GOOD, HEADERS, outcomes, run, stage_with_letters

AT = Seams(now_ms=lambda: NOW_MS)


def letter(stage: Stage, error_class: ErrorClass = ErrorClass.UNREADABLE) -> FoundLetter:
    [found] = find_dead_letters(stage.log, stage.settings, Wanted(error_class))
    return found


def edit(stage: Stage, value: bytes = GOOD, *, again: bool = False) -> Done:
    return send_edited(stage.log, stage.settings, letter(stage), value, again=again, seams=AT)


def close(stage: Stage, wanted: Wanted | None = None, reason: str = "spam") -> list[Done]:
    return list(resolve(stage.log, stage.settings, wanted or Wanted(), reason, seams=AT))


def marker(stage: Stage, found: FoundLetter) -> Marker | None:
    markers = Markers(stage.log, stage.settings)
    markers.read()
    return markers.of(found)


def back(stage: Stage) -> list[Record]:
    return stage.records(INPUT)[4:]


def test_an_edited_value_goes_back_with_key_and_headers_kept() -> None:
    stage = stage_with_letters()
    assert edit(stage).outcome == "edited"
    [record] = back(stage)
    assert (record.key(), record.value(), record.partition()) == (b"\x00k", GOOD, 3)
    assert record.headers() == [*HEADERS, ("headrace-replay", b"1")]
    found = marker(stage, letter(stage))
    assert found is not None
    assert (found.kind, found.at_ms, found.reason) == (Kind.EDITED, NOW_MS, None)


def test_what_was_edited_is_neither_edited_nor_replayed_nor_closed_again() -> None:
    stage = stage_with_letters()
    edit(stage)
    assert edit(stage, line(custom_id="other")).outcome == "already"
    assert sorted(outcomes(run(stage))) == ["already", "replayed", "replayed"]
    assert outcomes(close(stage)) == ["already"] * 3
    assert len(back(stage)) == 3


def test_what_was_edited_is_edited_again_where_that_is_asked_for() -> None:
    stage = stage_with_letters()
    edit(stage)
    assert edit(stage, line(custom_id="other"), again=True).outcome == "edited"
    assert [json.loads(record.value() or b"")["custom_id"] for record in back(stage)] == ["r-1", "other"]


def test_what_is_closed_goes_nowhere_and_says_why() -> None:
    stage = stage_with_letters()
    assert outcomes(close(stage)) == ["closed"] * 3
    assert outcomes(run(stage)) == ["was closed"] * 3
    assert [one.why for one in close(stage, reason="twice")] == ["spam"] * 3
    assert edit(stage).outcome == "was closed"
    assert not back(stage)
    found = marker(stage, letter(stage))
    assert found is not None
    assert (found.kind, found.at_ms, found.reason, found.sent) == (Kind.CLOSED, NOW_MS, "spam", None)


def test_filters_choose_what_is_closed() -> None:
    stage = stage_with_letters()
    assert outcomes(close(stage, Wanted(ErrorClass.INVALID))) == ["closed"]
    assert sorted(outcomes(run(stage))) == ["replayed", "replayed", "was closed"]


def test_what_was_closed_goes_back_where_that_is_asked_for() -> None:
    stage = stage_with_letters()
    close(stage)
    assert outcomes(run(stage, again=True)) == ["replayed"] * 3
    assert len(back(stage)) == 3


def test_a_dry_resolve_writes_nothing() -> None:
    stage = stage_with_letters()
    told = list(resolve(stage.log, stage.settings, Wanted(), "spam", dry_run=True))
    assert outcomes(told) == ["would"] * 3
    assert outcomes(run(stage)) == ["replayed"] * 3


def test_a_reason_is_bounded() -> None:
    stage = stage_with_letters()
    close(stage, reason="x" * (REASON_CHARS_MAX + 1))
    found = marker(stage, letter(stage))
    assert found is not None
    assert found.reason == "x" * REASON_CHARS_MAX


@pytest.mark.parametrize("fault", list(Fault))
def test_an_abort_or_an_unknown_outcome_repeats_no_decision(fault: Fault) -> None:
    stage = stage_with_letters()
    stage.log.inject("headrace.replay", fault)
    assert edit(stage).outcome == "edited"
    stage.log.inject("headrace.replay", fault)
    assert sorted(outcomes(close(stage))) == ["already", "closed", "closed"]
    assert len(back(stage)) == 1
    assert len(stage.records(stage.settings.own_topic("replays"))) == 3


@pytest.mark.parametrize("command", ["replay", "resolve"])
def test_an_edit_at_once_fences_the_command_that_runs(command: str) -> None:
    stage = stage_with_letters()

    def edit_first(point: str) -> None:
        if point == "begun":
            edit(stage)

    seams = Seams(reach=edit_first)
    running: Iterator[Done] = (
        replay(stage.log, stage.settings, Wanted(), seams=seams)
        if command == "replay"
        else resolve(stage.log, stage.settings, Wanted(), "spam", seams=seams)
    )
    with pytest.raises(LogFenced, match="has started"):
        list(running)
    assert [record.value() for record in back(stage)] == [GOOD]


def test_whoever_knows_replays_only_takes_each_marker_for_one() -> None:
    stage = stage_with_letters()
    close(stage)
    for record in stage.records(stage.settings.own_topic("replays")):
        told = json.loads(record.value() or b"")
        assert isinstance(told["source"], str)
        assert isinstance(told["run"], str)


def test_a_marker_of_the_first_form_is_a_replay() -> None:
    stage = stage_with_letters()
    found = letter(stage)
    value = json.dumps({"source": str(found.letter.source), "run": "x"}).encode()
    stage.send(value, key=found.place.encode(), topic=stage.settings.own_topic("replays"))
    read = marker(stage, found)
    assert read is not None
    assert (read.kind, read.at_ms) == (Kind.REPLAYED, None)
    assert edit(stage).outcome == "already"


def test_replay_again_leaves_out_the_older_letter_of_a_record_that_died_again() -> None:
    stage = stage_with_letters()
    run(stage)
    stage.dispatch()
    assert len(stage.dead) == 6
    told = run(stage, again=True)
    assert sorted(outcomes(told)) == ["already"] * 3 + ["replayed"] * 3
    assert all("died again" in one.why for one in told if one.outcome == "already")
    assert {one.found.letter.replay for one in told if one.outcome == "replayed"} == {1}
    assert len(stage.records(INPUT)) == 4 + 3 + 3
