"""Commands that start, stand still and die at any step of each other: no letter goes back twice, none is lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from random import Random

import pytest

from stream.errors import LogError
from stream.log.memory.log import Fault
from stream.replay.decisions import replay, resolve, send_edited
from stream.replay.find import FoundLetter, Wanted, find_dead_letters
from stream.replay.markers import Kind, Markers
from stream.replay.once import Seams
from stream.replay.steps_transaction import Done
from tests.stream.dispatcher.stage import INPUT, Stage

LETTERS = 6
COMMANDS = 12
DEPTH_MAX = 3


class Killed(Exception):
    """The process of a command is gone."""


class Play:
    """Random commands, each of which may be stopped at a step while others run, and die there."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._runs = 0
        self.stage = Stage()
        self.values = [b"no %d" % number for number in range(LETTERS)]
        self.stage.send(*self.values, partition=3)
        self.stage.dispatch()
        self._depth = 0

    def command(self) -> None:
        """One of the three on some of the letters; it may die, or be fenced, or meet a fault of the broker."""
        self._depth += 1
        if self._random.random() < 0.2:
            self.stage.log.inject("headrace.replay", self._random.choice(list(Fault)))
        with suppress(Killed, LogError):
            for _ in self._begin():
                self._step("told")
        self._depth -= 1

    def letters(self) -> list[FoundLetter]:
        return list(find_dead_letters(self.stage.log, self.stage.settings))

    def _begin(self) -> Iterator[Done]:
        log, settings = self.stage.log, self.stage.settings
        chosen = self._random.choice(self.letters())
        wanted = self._random.choice([Wanted(), Wanted(name=chosen.place)])
        match self._random.randrange(3):
            case 0:
                return replay(log, settings, wanted, seams=self._seams())
            case 1:
                return resolve(log, settings, wanted, "spam", seams=self._seams())
            case _:
                value = b"edited " + (chosen.letter.value or b"")
                return iter([send_edited(log, settings, chosen, value, seams=self._seams())])

    def _seams(self) -> Seams:
        self._runs += 1
        name = f"run {self._runs}"
        return Seams(run=lambda: name, reach=self._step)

    def _step(self, _point: str) -> None:
        while self._depth < DEPTH_MAX and self._random.random() < 0.25:
            self.command()
        if self._random.random() < 0.1:
            raise Killed


@pytest.mark.parametrize("seed", range(60))
def test_each_letter_goes_back_at_most_once_and_as_its_marker_says(seed: int) -> None:
    play = Play(seed)
    for _ in range(COMMANDS):
        play.command()
    assert_as_decided(play)
    list(replay(play.stage.log, play.stage.settings, Wanted()))
    assert_as_decided(play)
    assert len(decided(play)) == LETTERS


def decided(play: Play) -> dict[bytes, str]:
    """Value of the letter -> what was decided."""
    markers = Markers(play.stage.log, play.stage.settings)
    markers.read()
    found = ((letter.letter.value or b"", markers.of(letter)) for letter in play.letters())
    return {value: marker.kind for value, marker in found if marker is not None}


def assert_as_decided(play: Play) -> None:
    expected = Counter(
        {Kind.REPLAYED: value, Kind.EDITED: b"edited " + value}[Kind(kind)]
        for value, kind in decided(play).items()
        if kind != Kind.CLOSED
    )
    back = [record for record in play.stage.records(INPUT) if record.headers()]
    assert Counter(record.value() for record in back) == expected
    markers = play.stage.records(play.stage.settings.own_topic("replays"))
    assert len(markers) == len(decided(play))


def test_the_commands_meet_and_die() -> None:
    """The play is worth something only where all of it happens."""
    kinds: Counter[str] = Counter()
    for seed in range(20):
        play = Play(seed)
        for _ in range(COMMANDS):
            play.command()
        kinds.update(decided(play).values())
    assert min(kinds[kind] for kind in Kind) > 5
