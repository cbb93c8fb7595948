"""What a worker slot writes down for the process after it: evidence that a death was not a record's doing.

The offset map alone convicts: it names the record that runs single file. But that record may not have started when the
process died, or may have ended. Only the process itself knew, so it leaves a small file beside its start journal:

    ^topic/partition deaths                          a partition whose map counts us as dead, and how many deaths it tells
    ?topic/partition/offset deaths acquittals source the work record that the map is about to name
    +source                                          its call starts
    !source                                          its call has ended
    ~                                                the next process probes its engine, and may not survive that
    .                                                it has

It may only acquit, and only where the map still tells as many deaths as the file: then no other process has died there
since. A file that is lost, cut or could not be written changes nothing.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from schemas.source import Source
from workers.private_files import open_private

_LOG = logging.getLogger(__name__)

#: A record is acquitted so often in a row: whose process dies each time at its end is not innocent.
ACQUITTALS_MAX: Final = 5


class Trial(NamedTuple):
    """The record that ran alone, or was to, in the map's words and in the journal's."""

    #: `topic/partition/offset` of the work record.
    place: str
    #: Deaths that the map told, the writer's own among them.
    deaths: int
    acquittals: int
    source: str
    running: bool = False

    @property
    def lines(self) -> list[str]:
        named = f"?{self.place} {self.deaths} {self.acquittals} {self.source}"
        return [named, f"+{self.source}"] if self.running else [named]


class Told(NamedTuple):
    """What a file says in the end."""

    marks: Mapping[str, int]
    trial: Trial | None
    #: An engine has not survived a call of our own since: then it was not the record's doing either.
    broken: bool = False


def read_evidence(text: str) -> Told:
    """The last line may have been cut by a crash of the machine: then nothing is told at all."""
    if text and not text.endswith("\n"):
        return Told({}, None)
    marks: dict[str, int] = {}
    trial: Trial | None = None
    broken = probing = False
    for kind, rest in ((line[:1], line[1:]) for line in text.split("\n")[:-1]):
        if kind == "^":
            place, deaths = rest.split(" ")
            marks[place] = int(deaths)
        elif kind == "?":
            place, deaths, acquittals, source = rest.split(" ")
            trial = Trial(place, int(deaths), int(acquittals), source)
        elif kind in "~.":
            broken = broken or (probing and kind == "~")
            probing = kind == "~"
        elif trial is not None and rest == trial.source:
            trial = trial._replace(running=kind == "+")
    return Told(marks, trial, broken or probing)


class Evidence:
    """One slot's file. `started` and `ended` belong to the engine loop, all else to the thread that owns Kafka."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._before = _read(path)
        #: The predecessor's, written down again until we name a record: we may die before our first commit, too.
        self._carried = self._before.trial
        if self._carried is not None and self._before.broken:
            self._carried = self._carried._replace(running=False)
        self._marks: Mapping[str, int] = {}
        #: The record that the map names now, or is about to.
        self.trial: Trial | None = None
        #: By place: how often in a row this record was acquitted.
        self._acquitted: dict[str, int] = {}
        self._worthless = False
        self._writing = threading.Lock()
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND) if path.exists() else -1

    # ---- what the process before has left ------------------------------------------------------------------------

    def acquits(self, place: str, deaths: int) -> bool:
        """The record that a map of so many deaths names did not run when our predecessor died. Once for each death."""
        trial = self._before.trial
        if trial is None or (trial.place, trial.deaths) != (place, deaths):
            return False
        carried, self._before = self._carried, self._before._replace(trial=None)
        if carried is None or carried.running or trial.acquittals >= ACQUITTALS_MAX:
            return False
        self._acquitted = {place: trial.acquittals + 1}
        return True

    def own_death(self, partition: str, deaths: int) -> bool:
        """The last of a partition's so many deaths was our predecessor's: nobody else has died there since."""
        return self._before.marks.get(partition) == deaths

    def probing(self) -> None:
        """Before the first call of our own."""
        self._append("~\n")

    def probed(self) -> None:
        """The engine has survived it."""
        self._append(".\n")

    # ---- what we leave ---------------------------------------------------------------------------------------------

    def marked(self, deaths: Mapping[str, int]) -> None:
        """These maps count us as dead: all of them, by `topic/partition`."""
        with self._writing:
            self._marks = dict(deaths)
            self._write_anew()

    def named(self, place: str, deaths: int, source: Source) -> None:
        """Before the map names this record."""
        with self._writing:
            self.trial, self._carried = Trial(place, deaths, self._acquitted.get(place, 0), str(source)), None
            self._write_anew()

    def unnamed(self) -> None:
        """It does not run after all."""
        with self._writing:
            if self.trial is not None:
                self.trial = None
                self._write_anew()

    def outlived(self) -> None:
        """We live, though a map may still name a record of ours: it runs alone no longer, and has killed nobody."""
        with self._writing:
            if self.trial is not None:
                self.trial = self.trial._replace(running=False)
                self._write_anew()

    def released(self) -> None:
        """Maps count us no longer: what happens there now is not ours to tell."""
        with self._writing:
            self._marks = {}
            self.trial = self._carried = None
            self._write_anew()

    def started(self, source: Source) -> None:
        """Before its call starts. OSError where a file that denies it can neither be written nor emptied."""
        with self._writing:
            if self.trial is not None and self.trial.source == str(source):
                self.trial = self.trial._replace(running=True)
            self._append(f"+{source}\n")

    def ended(self, source: Source) -> None:
        """Its call has ended, before anybody hears of it."""
        with self._writing:
            if self.trial is not None and self.trial.source == str(source):
                self.trial = self.trial._replace(running=False)
            self._append(f"!{source}\n")

    def worthless(self) -> None:
        """Something could not be written down: from now on this process leaves no evidence at all."""
        self._worthless = True
        if self._file >= 0:
            os.ftruncate(self._file, 0)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write_anew(self) -> None:
        """A death between the two calls leaves an empty file, which says nothing."""
        if self._worthless:
            return
        lines = [f"^{place} {deaths}" for place, deaths in self._marks.items()]
        trial = self.trial or self._carried
        lines += trial.lines if trial is not None else []
        try:
            if self._file < 0:
                self._file = open_private(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.ftruncate(self._file, 0)
            self._put("".join(line + "\n" for line in lines))
        except OSError as error:
            self._give_up(error)

    def _append(self, line: str) -> None:
        if self._worthless or self._file < 0:
            return
        try:
            self._put(line)
        except OSError as error:
            self._give_up(error)

    def _put(self, text: str) -> None:
        data = text.encode()
        if os.write(self._file, data) != len(data):
            raise OSError("only a part was written")

    def _give_up(self, error: OSError) -> None:
        _LOG.warning("a death of this process may convict an innocent record: %s: %s", self._path, error)
        self.worthless()


class NoEvidence:
    """Acquits nobody."""

    def acquits(self, place: str, deaths: int) -> bool:  # noqa: ARG002
        return False

    def own_death(self, partition: str, deaths: int) -> bool:  # noqa: ARG002
        return False

    def probing(self) -> None:
        """Not kept."""

    def probed(self) -> None:
        """Not kept."""

    def marked(self, deaths: Mapping[str, int]) -> None:
        """Not kept."""

    def named(self, place: str, deaths: int, source: Source) -> None:
        """Not kept."""

    def unnamed(self) -> None:
        """Not kept."""

    def outlived(self) -> None:
        """Not kept."""

    def released(self) -> None:
        """Not kept."""

    def started(self, source: Source) -> None:
        """Not kept."""

    def ended(self, source: Source) -> None:
        """Not kept."""


Keeper = Evidence | NoEvidence


def _read(path: Path) -> Told:
    try:
        return read_evidence(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        if not isinstance(error, FileNotFoundError):
            _LOG.warning("%s cannot be read, so nobody is acquitted by it: %s", path, error)
        return Told({}, None)
