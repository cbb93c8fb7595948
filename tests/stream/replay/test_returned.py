"""What went back for a letter is found on its input topic."""

from __future__ import annotations

from stream.replay.decisions import resolve, send_edited
from stream.replay.find import Wanted, find_dead_letters
from stream.replay.markers import Markers
from stream.replay.returned import WentBack
from tests.stream.dispatcher.stage import INPUT, Stage
from tests.stream.replay.test_replay import GOOD, run, stage_with_letters


def returned(stage: Stage) -> dict[str, int]:
    """Place of the letter -> offset of what went back for it, on the input's one partition in use."""
    markers, went_back = Markers(stage.log, stage.settings), WentBack()
    markers.read()
    for found in find_dead_letters(stage.log, stage.settings):
        went_back.add(found, markers.of(found))
    begin = went_back.begin(stage.admin, 1)
    if not begin:
        return {}
    found_at = went_back.find(markers, stage.log.reader(begin).to_end(1))
    return {place: source.offset for place, source in found_at.items()}


def offsets(stage: Stage) -> dict[bytes, int]:
    return {record.value() or b"": record.offset() for record in stage.records(INPUT) if record.offset() > 3}


def test_what_was_replayed_or_edited_is_paired_and_what_was_closed_is_not() -> None:
    stage = stage_with_letters()
    first, second, third = find_dead_letters(stage.log, stage.settings)
    list(resolve(stage.log, stage.settings, Wanted(name=first.place), "spam"))
    send_edited(stage.log, stage.settings, second, GOOD)
    run(stage)
    at = offsets(stage)
    assert returned(stage) == {second.place: at[GOOD], third.place: at[third.letter.value or b""]}


def alike() -> Stage:
    """Two dead letters of the same key, value and headers."""
    stage = Stage()
    stage.send(b"no", b"no", partition=3)
    stage.dispatch()
    return stage


def test_those_that_are_alike_are_paired_in_their_order() -> None:
    stage = alike()
    first, second = sorted(
        find_dead_letters(stage.log, stage.settings), key=lambda found: found.letter.source
    )
    run(stage, Wanted(name=second.place))
    run(stage, Wanted(name=first.place))
    ends = sorted(record.offset() for record in stage.records(INPUT))[2:]
    assert returned(stage) == {second.place: ends[0], first.place: ends[1]}


def test_the_newest_of_a_letter_that_went_twice_counts() -> None:
    stage = alike()
    run(stage)
    run(stage, again=True)
    ends = sorted(record.offset() for record in stage.records(INPUT))[2:]
    assert sorted(returned(stage).values()) == ends[2:]


def test_a_topic_that_is_gone_has_nothing_of_it() -> None:
    stage = stage_with_letters()
    run(stage)
    stage.admin.delete([INPUT], 1)
    assert returned(stage) == {}
    stage.topic(INPUT, 2)
    assert returned(stage) == {}
