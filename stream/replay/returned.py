"""Where the records that went back lie now: a marker cannot say, for their offsets were not known when it was written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from schemas.carry import split_replay
from schemas.source import Source
from stream.log.base import LogAdmin, Partition, Record
from stream.log.readable import safe_headers
from stream.replay.find import FoundLetter
from stream.replay.markers import Kind, Marker, Markers, digest_of


class Sent(NamedTuple):
    """A record that went back, as its input topic shows it."""

    partition: Partition
    key: bytes | None
    replay: int
    digest: str


def sent_for(found: FoundLetter, marker: Marker) -> Sent | None:
    """What went back for this letter; None where nothing did, or where the letter lacks what it would be known by."""
    letter = found.letter
    if marker.kind == Kind.CLOSED or letter.key_omitted is not None:
        return None
    if marker.sent is None and letter.value_omitted is not None:
        return None
    place = Partition(letter.source.topic, letter.source.partition)
    return Sent(place, letter.key, letter.replay + 1, marker.sent or digest_of(letter.value))


def find_returned(sent: Mapping[str, Sent], records: Iterable[Record]) -> dict[str, Source]:
    """Place of the letter -> position of the record that went back for it.

    `sent`: in the order of the markers. Records that are alike lie in that order too, for one command at a time writes
    them; the newest are paired first, because retention takes the oldest, and a newer marker replaces an older one.
    """
    places: defaultdict[Sent, list[str]] = defaultdict(list)
    for place, one in sent.items():
        places[one].append(place)
    positions: defaultdict[Sent, list[Source]] = defaultdict(list)
    for record in records:
        came = _sent(record)
        if came is not None and came in places:
            positions[came].append(Source(record.topic(), record.partition(), record.offset()))
    return {
        place: source
        for one, alike in positions.items()
        for place, source in zip(reversed(places[one]), reversed(alike), strict=False)
    }


class WentBack:
    """What went back for some letters, and where on the inputs it must lie."""

    def __init__(self) -> None:
        self._sent: dict[str, Sent] = {}
        self._begin: dict[Partition, int] = {}

    def add(self, found: FoundLetter, marker: Marker | None) -> None:
        """A letter and what was decided about it."""
        went = None if marker is None else sent_for(found, marker)
        if went is not None:
            self._sent[found.place] = went
            offset = found.letter.source.offset
            self._begin[went.partition] = min(self._begin.get(went.partition, offset), offset)

    def begin(self, admin: LogAdmin, ask_s: float) -> dict[Partition, int]:
        """Where to read: a topic may be gone, made anew, or without its first records."""
        topics = admin.topics(ask_s)
        places = [place for place in self._begin if place.partition < topics.get(place.topic, 0)]
        marks, ends = admin.watermarks(places, ask_s), admin.stable_ends(places, ask_s)
        first = {place: max(self._begin[place], marks[place].low) for place in places}
        return {place: offset for place, offset in first.items() if offset < ends[place]}

    def find(self, markers: Markers, records: Iterable[Record]) -> dict[str, Source]:
        """Place of the letter -> position of what went back for it."""
        in_order = {place: self._sent[place] for place in markers.places if place in self._sent}
        return find_returned(in_order, records)


def _sent(record: Record) -> Sent | None:
    headers = safe_headers(record)
    replay = split_replay(headers)[1] if headers else 0
    if not replay:
        return None
    place = Partition(record.topic(), record.partition())
    return Sent(place, record.key(), replay, digest_of(record.value()))
