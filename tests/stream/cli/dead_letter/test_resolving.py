"""`dead-letters resolve`: closed with a reason, and nothing is sent."""

from __future__ import annotations

import pytest

from schemas.failure import ErrorClass
from schemas.source import Source
from stream.cli.overview.dead_letters import count_dead_letters
from stream.errors import UsageError
from stream.topics import ensure_topics
from tests.stream.cli.dead_letter.desk import Desk


def counted(desk: Desk) -> tuple[int, int]:
    here = desk.here
    return count_dead_letters(here.log, here.settings, here.log.admin().topics(5))


@pytest.fixture
def three(desk: Desk) -> Desk:
    """Two invalid, one poison."""
    for number, name in enumerate([ErrorClass.INVALID, ErrorClass.POISON, ErrorClass.INVALID]):
        desk.here.bury(Source(desk.here.requests, 0, number), b"%d" % number, name)
    return desk


def test_those_that_match_are_closed(three: Desk) -> None:
    told = three.run("resolve", "--class", "poison", "--reason", "looked at")
    assert told.out.splitlines()[-1] == "1 closed, 0 were replayed before, 0 refused"
    assert three.states() == ["open", "closed", "open"]
    assert counted(three) == (3, 2)
    again = three.run("resolve", "--all", "--reason", "the rest")
    assert again.out.splitlines()[-1] == "2 closed, 0 were replayed before, 1 were closed before, 0 refused"
    assert counted(three) == (3, 0)


def test_all_of_them_are_closed_only_where_that_is_said(three: Desk) -> None:
    with pytest.raises(UsageError, match="or --all"):
        three.run("resolve", "--reason", "oops")
    assert counted(three) == (3, 3)


def test_a_dry_run_closes_none(three: Desk) -> None:
    told = three.run("resolve", "--all", "--dry-run", "--reason", "x")
    assert told.out.splitlines()[-1] == "3 would be closed, 0 were replayed before, 0 refused"
    assert counted(three) == (3, 3)


def test_what_was_replayed_is_not_open(three: Desk) -> None:
    three.run("replay", "--class", "poison")
    assert counted(three) == (3, 2)


def test_a_letter_at_the_place_of_another_is_open(three: Desk) -> None:
    three.run("resolve", "--all", "--reason", "x")
    topic = three.here.settings.outputs.dead_letters
    three.here.log.admin().delete([topic], 1)
    ensure_topics(three.here.log.admin(), three.here.settings)
    three.here.bury(Source(three.here.requests, 1, 0), b"new")
    assert counted(three) == (1, 1)
    assert three.states() == ["open"]
