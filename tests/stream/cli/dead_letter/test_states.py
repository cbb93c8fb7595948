"""A list says of each dead letter what became of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.source import Source
from stream.errors import WaitedTooLong
from stream.log.base import TopicDescription
from tests.stream.cli.dead_letter.desk import Desk

BROKEN = b'{"custom_id": "b-1", "body": {"x": 1,}'


def bury(desk: Desk, value: bytes = BROKEN) -> Source:
    """A record on the input, and its dead letter; where the record is."""
    source = desk.here.put(desk.here.requests, value)
    desk.here.bury(source, value)
    return source


def newest_input(desk: Desk) -> Source:
    record = list(desk.here.log.reader([desk.here.requests]).to_end(1))[-1]
    return Source(record.topic(), record.partition(), record.offset())


def test_one_that_nothing_was_done_about_is_open(desk: Desk) -> None:
    bury(desk)
    [told, counts] = desk.lines()
    assert (told["state"], told["custom_id"], told["answer"]) == ("open", "b-1", None)
    assert counts == {"counts": {"all": 1, "open": 1, "classes": {"invalid": 1}, "states": {"open": 1}}}


def test_one_that_was_replayed_is_so_until_its_replay_is_answered(desk: Desk) -> None:
    bury(desk)
    desk.run("replay")
    assert desk.states() == ["replayed"]
    answer = desk.here.answer(newest_input(desk))
    [told, _] = desk.lines()
    assert (told["state"], told["answer"]) == ("answered", str(answer))


def test_one_whose_own_source_has_an_answer_is_answered(desk: Desk) -> None:
    source = bury(desk)
    desk.here.log.admin().create([TopicDescription("headrace.replies.mine", 1, {})], 1)
    answer = desk.here.answer(source, topic="headrace.replies.mine")
    [told, _] = desk.lines()
    assert (told["state"], told["answer"]) == ("answered", str(answer))


def test_an_answer_to_another_says_nothing(desk: Desk) -> None:
    source = bury(desk)
    desk.here.answer(Source(source.topic, source.partition, source.offset + 7))
    assert desk.states() == ["open"]


def test_one_that_was_edited_is_so_until_what_went_back_is_answered(desk: Desk, tmp_path: Path) -> None:
    source = bury(desk)
    (tmp_path / "new").write_bytes(b'{"custom_id": "b-1"}')
    desk.run("edit", str(source), "--value", str(tmp_path / "new"), "--force")
    assert desk.states() == ["edited"]
    desk.here.answer(newest_input(desk))
    assert desk.states() == ["answered"]


def test_one_that_was_closed_says_why_and_when(desk: Desk) -> None:
    source = bury(desk)
    desk.run("resolve", str(source), "--reason", "a test of theirs")
    [told, _] = desk.lines()
    assert (told["state"], told["reason"]) == ("closed", "a test of theirs")
    assert told["decided"] is not None
    desk.here.answer(source)
    assert desk.states() == ["closed"]
    assert "closed: a test of theirs" in desk.run("list").out


def test_open_ones_are_listed_alone_where_that_is_asked_for(desk: Desk) -> None:
    sources = [bury(desk, b"%d" % number) for number in range(3)]
    desk.run("replay", str(sources[0]))
    desk.here.answer(sources[1])
    assert [told["source"] for told in desk.lines("--open")[:-1]] == [str(sources[2])]
    assert desk.lines("--open")[-1]["counts"]["all"] == 1


def test_classes_and_states_are_counted_at_the_end(desk: Desk) -> None:
    first = bury(desk)
    bury(desk)
    desk.run("resolve", str(first), "--reason", "x")
    assert desk.run("list").out.splitlines()[-1] == "2 dead letters (1 closed, 1 open): 2 invalid"


def test_without_time_for_the_answers_the_list_is_there_and_the_end_is_3(desk: Desk) -> None:
    bury(desk)
    desk.here.answer(Source(desk.here.requests, 0, 0))
    with pytest.raises(WaitedTooLong) as slow:
        desk.run("list", "--timeout", "0.000001")
    assert slow.value.exit_code == 3
