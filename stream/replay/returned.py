"""Where the records that went back lie now: a marker cannot say, for their offsets were not known when it was written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from schemas.carry import split_replay
from schemas.source import Source
from stream.log.base import Partition, Record
from stream.log.readable import safe_headers
from stream.replay.find import Found
from stream.replay.markers import Kind, Marker, digest_of


class Sent(NamedTuple):
    """A record that went back, as its input topic shows it."""

    partition: Partition
    key: bytes | None
    replay: int
    digest: str


def sent_for(found: Found, marker: Marker) -> Sent | None:
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


def _sent(record: Record) -> Sent | None:
    headers = safe_headers(record)
    replay = split_replay(headers)[1] if headers else 0
    if not replay:
        return None
    place = Partition(record.topic(), record.partition())
    return Sent(place, record.key(), replay, digest_of(record.value()))
