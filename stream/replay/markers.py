"""What was replayed already: one record for each dead letter, written in the transaction of its replay."""

from __future__ import annotations

import msgspec

from schemas.headers import FORMAT_VERSION, VERSION
from stream.config.settings import Settings
from stream.log.base import Log, Output
from stream.replay.find import PATIENCE_S, Found


class _Marker(msgspec.Struct):
    """`source`: the input record. A dead-letter topic made anew has the same offsets, but not for the same source."""

    source: str
    #: Of the run that wrote it: the outcome of an unknown commit is read from it.
    run: str


def marker_of(found: Found, settings: Settings, run: str) -> Output:
    """The record that says: replayed, by this run."""
    value = _Marker(str(found.letter.source), run)
    headers: list[tuple[str, bytes | None]] = [(VERSION, b"%d" % FORMAT_VERSION)]
    return Output(settings.own_topic("replays"), found.place.encode(), msgspec.json.encode(value), headers, 0)


def _read(key: bytes | None, value: bytes | None) -> tuple[str, _Marker] | None:
    """Which dead letter was replayed, and its marker; None for what is none of ours: it says nothing of any."""
    if key is None or value is None:
        return None
    try:
        return key.decode(), msgspec.json.decode(value, type=_Marker)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


class Markers:
    """The markers on `headrace.replays`, read to their end."""

    def __init__(self, log: Log, settings: Settings) -> None:
        self._log = log
        self._topic = settings.own_topic("replays")
        self._of: dict[str, _Marker] = {}

    def read(self) -> None:
        """All of them anew: after the producer's start no earlier replay is under way any more."""
        self._of.clear()
        reader = self._log.reader([self._topic])
        try:
            for record in reader.to_end(PATIENCE_S):
                found = _read(record.key(), record.value())
                if found is not None:
                    place, marker = found
                    self._of[place] = marker
        finally:
            reader.close()

    def run_of(self, found: Found) -> str | None:
        """The run that replayed it last; None: it was never replayed."""
        marker = self._of.get(found.place)
        return marker.run if marker is not None and marker.source == str(found.letter.source) else None

    @property
    def runs(self) -> frozenset[str]:
        """All runs that replayed anything."""
        return frozenset(marker.run for marker in self._of.values())
