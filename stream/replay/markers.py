"""What was decided about a dead letter: one record for each, written in the transaction that carries the decision out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from enum import StrEnum
from hashlib import sha256
from typing import Final

import msgspec

from schemas.headers import FORMAT_VERSION, VERSION
from stream.config.settings import Settings
from stream.log.base import Log, Output
from stream.replay.find import PATIENCE_S, FoundLetter

REASON_CHARS_MAX: Final = 1_000


class Kind(StrEnum):
    """What became of it."""

    REPLAYED = "replayed"
    EDITED = "edited"
    CLOSED = "closed"


class Marker(msgspec.Struct, omit_defaults=True):
    """`source`: the input record. A dead-letter topic made anew has the same offsets, but not for the same source.

    Whoever knows source and run only, as the first form of this record, takes each kind for a replay, and so sends none
    of them again.
    """

    source: str
    #: Of the command that wrote it: the outcome of an unknown commit is read from it.
    run: str
    #: Text, for a later version may have more kinds.
    kind: str = Kind.REPLAYED
    #: ms since the epoch.
    at_ms: int | None = None
    reason: str | None = None
    #: Of the value that went back, SHA-256 in hex.
    sent: str | None = None


def digest_of(value: bytes | None) -> str:
    """How a marker names the value that went back."""
    return sha256(value or b"").hexdigest()


def system_ms() -> int:
    return time.time_ns() // 1_000_000


def marker_record(found: FoundLetter, marker: Marker, settings: Settings) -> Output:
    """The marker as it lies on its topic, under the place of its letter."""
    headers: list[tuple[str, bytes | None]] = [(VERSION, b"%d" % FORMAT_VERSION)]
    return Output(
        settings.own_topic("replays"), found.place.encode(), msgspec.json.encode(marker), headers, 0
    )


def _read(key: bytes | None, value: bytes | None) -> tuple[str, Marker] | None:
    """The letter's place and its marker; None for what is none of ours: it says nothing of any."""
    if key is None or value is None:
        return None
    try:
        return key.decode(), msgspec.json.decode(value, type=Marker)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


class Markers:
    """The markers on `headrace.replays`, read to their end."""

    def __init__(self, log: Log, settings: Settings) -> None:
        self._log = log
        self._topic = settings.own_topic("replays")
        self._of: dict[str, Marker] = {}

    def read(self) -> None:
        """All of them anew: after the producer's start no earlier command is under way any more."""
        self._of.clear()
        reader = self._log.reader([self._topic])
        try:
            for record in reader.to_end(PATIENCE_S):
                found = _read(record.key(), record.value())
                if found is not None:
                    place, marker = found
                    self._of.pop(place, None)
                    self._of[place] = marker
        finally:
            reader.close()

    def of(self, found: FoundLetter) -> Marker | None:
        """What was decided about it last; None: nothing yet."""
        return self.at(found.place, str(found.letter.source))

    def at(self, place: str, source: str) -> Marker | None:
        """The same, of the letter at this place with this source."""
        marker = self._of.get(place)
        return marker if marker is not None and marker.source == source else None

    @property
    def places(self) -> Iterator[str]:
        """Of the letters that have one, in the order in which they were written."""
        return iter(self._of)

    @property
    def runs(self) -> frozenset[str]:
        """All commands that decided anything."""
        return frozenset(marker.run for marker in self._of.values())
