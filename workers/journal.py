"""The start journal: which records' engine calls this worker slot has begun, over the lives of its processes.

Counters die with their process; this file survives SIGKILL (each batch is one `write` into the page cache, before the
calls start). From it come `repeats`, the metric, and the tally of a demo. It proves nothing: the offset map does. But
with `evidence` beside it, it may acquit.

Two segments bound it: a full one replaces the previous one. Lines:

    #STARTS REPEATS            totals of what was dropped before this segment
    topic/partition/offset     a start
    =topic/partition/offset    carried over from the previous segment, still running then: known, not counted again
    *topic/partition/offset    a start of a record that had been started before: a repeat
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from schemas.source import Source
from workers.evidence import Evidence, NoEvidence
from workers.private_files import make_private_folder, open_private

_LOG = logging.getLogger(__name__)

#: Starts per segment. Two segments are kept: what a crash can repeat lies far inside.
ENTRIES_MAX: Final = 20_000


class Totals(NamedTuple):
    """Counted over all processes of a slot."""

    starts: int = 0
    repeats: int = 0


def journal_path(state_dir: Path, process_name: str) -> Path:
    """Where the worker `process_name` (`worker-sim-00`) keeps its journal."""
    return state_dir / "journal" / f"{process_name}.starts"


def read_totals(path: Path) -> Totals:
    """The totals of a journal, also while its process runs; zeros where there is none."""
    return _read_segment(path).totals


class _Segment(NamedTuple):
    known: set[str]
    totals: Totals
    entries: int


def _read_segment(path: Path) -> _Segment:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return _Segment(set(), Totals(), 0)
    lines = text.split("\n")[:-1]  # what follows the last newline was cut by a crash of the machine
    first = lines[0][1:].split(" ") if lines and lines[0].startswith("#") else ["0", "0"]
    entries = [line for line in lines if line and not line.startswith("#")]
    repeats = sum(line[0] == "*" for line in entries)
    carried = sum(line[0] == "=" for line in entries)
    totals = Totals(int(first[0]) + len(entries) - carried, int(first[1]) + repeats)
    return _Segment({line.lstrip("=*") for line in entries}, totals, len(entries))


class Journal:
    """The journal of one worker slot. Used by the engine loop alone."""

    def __init__(self, path: Path, entries_max: int = ENTRIES_MAX) -> None:
        """Opens or creates `path`; its folder is made. OSError where that is not allowed."""
        make_private_folder(path.parent)
        self._path = path
        self._previous = path.with_name(path.name + ".1")
        self._entries_max = entries_max
        older, newer = _read_segment(self._previous), _read_segment(path)
        self._older, self._newer = older.known, newer.known
        self._before = frozenset(older.known | newer.known)
        #: What it leaves of the record that runs alone.
        self.evidence = Evidence(path.with_suffix(".alone"))
        self._entries = newer.entries
        self._totals = newer.totals
        self._told = False
        #: Engine calls of this process for a record that was started before, here or by an earlier process.
        self.repeats = 0
        self._file = open_private(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def started(self, sources: Sequence[Source], running: Iterable[Source] = ()) -> int:
        """Write down that the calls of `sources` start now; the number of repeats among them.

        `running` (read only when a segment is full) are carried over: they may be repeated much later.
        """
        if self._entries >= self._entries_max:
            self._turn(running)
        older, newer = self._older, self._newer
        lines = []
        repeats = 0
        for topic, partition, offset in sources:
            line = f"{topic}/{partition}/{offset}"
            if line in newer or line in older:
                repeats += 1
                lines.append("*" + line)
            else:
                newer.add(line)
                lines.append(line)
        self._or_in_memory(lambda: self._write(lines))
        self._totals = Totals(self._totals.starts + len(lines), self._totals.repeats + repeats)
        self.repeats += repeats
        return repeats

    def started_before(self, source: Source) -> bool:
        """By an earlier process of this slot, as far as the segments go back: further than what a crash can repeat."""
        return str(source) in self._before

    def close(self) -> None:
        os.close(self._file)
        self.evidence.close()

    def _or_in_memory(self, write: Callable[[], None]) -> None:
        """It proves nothing, so a full disk ends no calls: only a later process will know less."""
        try:
            write()
        except OSError as error:
            if not self._told:
                _LOG.warning("starts are counted in memory only: %s cannot be written: %s", self._path, error)
            self._told = True
            self.evidence.worthless()  # it goes by a journal that misses nothing

    def _write(self, lines: Sequence[str]) -> None:
        self._entries += len(lines)  # written or not: they are in memory
        if lines:
            os.write(self._file, ("\n".join(lines) + "\n").encode())

    def _turn(self, running: Iterable[Source]) -> None:
        """Begin a new segment; in memory also where the disk takes none."""
        carried = ["=" + str(source) for source in running]
        self._or_in_memory(lambda: self._begin_segment(carried))
        self._older, self._newer = self._newer, {line[1:] for line in carried}
        self._entries = len(carried)

    def _begin_segment(self, carried: Sequence[str]) -> None:
        """Written aside and renamed, so that no instant is without a journal."""
        fresh = self._path.with_name(self._path.name + ".new")
        file = open_private(fresh, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_TRUNC)
        head = [f"#{self._totals.starts} {self._totals.repeats}", *carried]
        try:
            os.write(file, ("\n".join(head) + "\n").encode())
            self._path.replace(self._previous)
            fresh.replace(self._path)
        except OSError:
            os.close(file)
            raise
        os.close(self._file)
        self._file = file


class NoJournal:
    """Keeps nothing: for benchmarks and engines whose calls cost nothing."""

    repeats = 0
    evidence = NoEvidence()

    def started_before(self, source: Source) -> bool:  # noqa: ARG002
        return True

    def started(self, sources: Sequence[Source], running: Iterable[Source] = ()) -> int:  # noqa: ARG002
        return 0

    def close(self) -> None:
        """Nothing to close."""


StartJournal = Journal | NoJournal
