"""A header whose name is not UTF-8, which the client cannot give, on what a replay reads."""

from __future__ import annotations

import pytest

from schemas.dead_letter import DeadLetter
from schemas.failure import ErrorClass, Failure, Stage
from schemas.source import Source
from stream.cli.quarantined.reply_topics import refused_topics
from stream.client.deadline import Deadline
from stream.config.settings import InputBinding, Settings
from stream.replay.find import find_dead_letters
from stream.replay.original import CannotReplay, Originals
from tests.stream.unreadable import UnreadableLog

SETTINGS = Settings(inputs=(InputBinding("t"),))


def test_a_foreign_dead_letter_with_one_is_passed_over() -> None:
    assert list(find_dead_letters(UnreadableLog(), SETTINGS)) == []
    assert refused_topics(UnreadableLog(), SETTINGS, [SETTINGS.outputs.dead_letters], Deadline(5)) == []


def test_an_original_that_has_to_be_fetched_and_has_one_is_refused() -> None:
    failure = Failure(ErrorClass.INVALID, Stage.VALIDATE, "x")
    letter = DeadLetter(b"k", None, (), Source("t", 1, 7), 5, "group", failure, value_omitted=8)
    with pytest.raises(CannotReplay, match="a header's name at its source is not UTF-8"):
        Originals(UnreadableLog(), SETTINGS).output(letter)
