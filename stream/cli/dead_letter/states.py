"""What became of each dead letter: nothing yet, sent back, closed, or answered since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from enum import StrEnum
from itertools import islice
from typing import Final, NamedTuple

from schemas.source import Source
from stream.cli.finding.hit import State
from stream.cli.finding.outputs import output_topics, outputs
from stream.cli.finding.scan import scan_topics
from stream.cli.finding.wanted import WantedSources
from stream.client.deadline import Deadline
from stream.client.group_position import ASK_S
from stream.config.settings import Settings
from stream.errors import WaitedTooLong
from stream.log.base import Log
from stream.replay.find import FoundLetter
from stream.replay.markers import Kind, Marker, Markers
from stream.replay.returned import WentBack

#: Answers are looked for for so many dead letters, the oldest first.
LOOKED_FOR_MAX: Final = 100_000


class LetterState(StrEnum):
    """What is closed stays so; of the others, an answer counts before what was decided."""

    OPEN = "open"
    REPLAYED = "replayed"
    EDITED = "edited"
    CLOSED = "closed"
    ANSWERED = "answered"


class Became(NamedTuple):
    """What became of one dead letter."""

    state: LetterState
    marker: Marker | None = None
    #: The answer to its source, or to what went back for it.
    answer: Source | None = None


class Letters:
    """What became of the letters of an installation; `deadline` bounds the look for answers."""

    def __init__(self, log: Log, settings: Settings, deadline: Deadline) -> None:
        self._log = log
        self._settings = settings
        self._deadline = deadline
        with deadline.asking(ASK_S) as ask_s:
            self._topics = log.admin().topics(ask_s)
        self._markers = Markers(log, settings)
        if settings.own_topic("replays") in self._topics:
            self._markers.read()
        self._returned: Mapping[str, Source] = {}
        self._answers: dict[Source, Source] = {}

    def look_for_answers(self, letters: Iterable[FoundLetter]) -> WaitedTooLong | None:
        """Whether the time was too short: then some that were answered are told to be open or sent back."""
        sources: dict[Source, None] = {}
        went_back = WentBack()
        for found in islice(letters, LOOKED_FOR_MAX):
            sources[found.letter.source] = None
            went_back.add(found, self._markers.of(found))
        try:
            self._look(sources, went_back)
        except WaitedTooLong as slow:
            return slow
        return None

    def became(self, found: FoundLetter) -> Became:
        marker = self._markers.of(found)
        back = self._returned.get(found.place)
        answer = self._answers.get(found.letter.source) or (None if back is None else self._answers.get(back))
        return Became(_state(marker, answer), marker, answer)

    def _look(self, sources: dict[Source, None], went_back: WentBack) -> None:
        if not sources:
            return
        with self._deadline.asking(ASK_S) as ask_s:
            begin = went_back.begin(self._log.admin(), ask_s)
        self._returned = went_back.find(self._markers, scan_topics(self._log, begin, self._deadline))
        wanted = WantedSources([*sources, *self._returned.values()])
        with closing(self._log.reader(output_topics(self._settings, self._topics))) as reader:
            for hit in outputs(reader, self._settings, wanted, self._deadline):
                if hit.state is State.ANSWERED and hit.where is not None:
                    self._answers[hit.source] = hit.where


def _state(marker: Marker | None, answer: Source | None) -> LetterState:
    if marker is not None and marker.kind == Kind.CLOSED:
        return LetterState.CLOSED
    if answer is not None:
        return LetterState.ANSWERED
    if marker is None:
        return LetterState.OPEN
    return LetterState.EDITED if marker.kind == Kind.EDITED else LetterState.REPLAYED
