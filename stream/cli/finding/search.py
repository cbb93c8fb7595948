"""From what is wanted to where it is: outputs first, then inputs, then work topics, then outputs once more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from typing import Final

from schemas.source import Source
from stream.cli.finding.hit import Hit, State
from stream.cli.finding.outputs import output_topics, outputs
from stream.cli.finding.underway import Underway
from stream.cli.finding.wanted import Wanted, WantedId, WantedSource, WantedSources, WantedText
from stream.cli.open_transactions import held, held_words
from stream.client.deadline import Deadline
from stream.client.group_position import ASK_S, partitions_of
from stream.config.settings import Settings
from stream.log.base import Log, LogReader, Partition
from stream.topics.served import input_topics, work_topics

#: One custom_id may stand on very many records; so many are told.
HITS_MAX: Final = 100


class Search:
    """One search; `deadline` bounds all of it."""

    def __init__(self, log: Log, settings: Settings, deadline: Deadline) -> None:
        self._log = log
        self._settings = settings
        self._deadline = deadline
        with deadline.asking(ASK_S) as ask_s:
            self._topics = log.admin().topics(ask_s)
        self._underway = Underway(log, settings, self._topics, deadline)

    def run(self, words: str) -> Iterator[Hit]:
        """A custom_id or a position. At most HITS_MAX hits; WaitedTooLong when the time is up, after those found by then."""
        return self._run(self._wanted(words))

    def run_text(self, text: str, since_ms: int | None = None) -> Iterator[Hit]:
        """The same, of inputs and dead letters whose values hold the text."""
        return self._run(WantedText(text, self._settings.outputs.dead_letters, since_ms))

    def _run(self, wanted: Wanted) -> Iterator[Hit]:
        with closing(self._log.reader(output_topics(self._settings, self._topics))) as reader:
            finished: set[Source] = set()
            for hit in outputs(reader, self._settings, wanted, self._deadline):
                if hit.source not in finished and len(finished) < HITS_MAX:
                    finished.add(hit.source)
                    yield hit
            if wanted.single is None or not finished:
                yield from self._unfinished(wanted, finished, reader)

    def _wanted(self, words: str) -> Wanted:
        """A position of a topic that exists, else a custom_id: those may have slashes too."""
        try:
            source = Source.parse(words)
        except ValueError:
            return WantedId(words)
        known = source.offset >= 0 and 0 <= source.partition < self._topics.get(source.topic, 0)
        return WantedSource(source) if known else WantedId(words)

    def _unfinished(self, wanted: Wanted, finished: set[Source], reader: LogReader) -> Iterator[Hit]:
        """Those that had no output when `reader` came to its end."""
        new = (source for source in self._underway.inputs(wanted) if source not in finished)
        left = dict.fromkeys(islice(new, HITS_MAX - len(finished)))
        for look in (self._underway.waiting, self._underway.released):
            for hit in list(look(left)):
                left.pop(hit.source, None)
                yield hit
        for hit in outputs(reader, self._settings, WantedSources(left), self._deadline):
            # Its output came while we looked.
            left.pop(hit.source, None)
            yield hit
        yield from self._answered(left)

    def _answered(self, left: dict[Source, None]) -> Iterator[Hit]:
        """Done, and not found by what was asked for: an output need not carry its record's custom_id."""
        if not left:
            return
        with closing(self._log.reader(output_topics(self._settings, self._topics))) as reader:
            for hit in outputs(reader, self._settings, WantedSources(left), self._deadline):
                if hit.source in left:
                    del left[hit.source]
                    yield hit
        for source in left:
            yield self._unseen(source)

    def _unseen(self, source: Source) -> Hit:
        """Routed, and on no topic for a reader: hidden, deleted or discarded."""
        work = self._held(work_topics(self._settings, self._topics))
        found = work | self._held(output_topics(self._settings, self._topics))
        gone = "deleted by retention, or discarded by `quarantine reset`"
        if not found:
            return Hit(source, State.FINISHED, None, f"its output is no longer on its topic: {gone}")
        what = "neither a work record nor an output of it is visible" if work else "its output is not visible"
        words = f"{what}: {held_words(found)}; or it was {gone}"
        return Hit(source, State.RELEASED if work else State.FINISHED, None, words)

    def held_inputs(self) -> dict[Partition, int]:
        """What no reader sees of the inputs, and we not either."""
        return self._held(input_topics(self._settings, self._topics))

    def _held(self, names: Iterable[str]) -> dict[Partition, int]:
        with self._deadline.asking(ASK_S) as ask_s:
            return held(self._log.admin(), partitions_of(self._topics, names), ask_s)
