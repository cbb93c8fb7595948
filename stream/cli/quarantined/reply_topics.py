"""Reply topics that refused answers: told from the dead letters, for each process keeps its own list in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas import headers as names
from schemas.control import read_control
from schemas.dead_letter import parse_dead_letter
from schemas.errors import SchemasError
from schemas.failure import ErrorClass
from stream.cli.finding.scan import scan_topics
from stream.client.deadline import Deadline
from stream.config.settings import Settings
from stream.log.base import Log, Record
from stream.log.readable import safe_headers
from stream.replay.find import PATIENCE_S
from stream.replay.markers import Markers

_UNWRITABLE = ErrorClass.UNWRITABLE.encode()


@dataclass(slots=True)
class RefusedTopic:
    """A reply topic with answers that could not be written to it."""

    topic: str
    exists: bool
    #: Those that nothing was decided about: neither replayed nor closed.
    dead_letters: int = 0
    #: The newest refusal.
    why: str = ""


def refused_topics(
    log: Log, settings: Settings, topics: Sequence[str], deadline: Deadline
) -> list[RefusedTopic]:
    """All that dead letters name which were not replayed; one that was mended since waits for that."""
    found: dict[str, RefusedTopic] = {}
    dead_letters = [topic for topic in topics if topic == settings.outputs.dead_letters]
    markers = Markers(log, settings)
    if settings.own_topic("replays") in topics:
        with deadline.asking(PATIENCE_S):
            markers.read()
    for record in scan_topics(log, dead_letters, deadline):
        if _class(record) != _UNWRITABLE or _is_replayed(record, markers):
            continue
        topic, why = _target(record, settings)
        refused = found.setdefault(topic, RefusedTopic(topic, topic in topics))
        refused.dead_letters += 1
        refused.why = why
    return sorted(found.values(), key=lambda refused: refused.topic)


def _is_replayed(record: Record, markers: Markers) -> bool:
    try:
        letter = parse_dead_letter(record.key(), None, safe_headers(record))
    except SchemasError:
        return False
    return markers.at(f"{record.partition()}/{record.offset()}", str(letter.source)) is not None


def _class(record: Record) -> bytes | None:
    for name, value in safe_headers(record) or ():
        if name == names.ERROR_CLASS:
            return value
    return None


def _target(record: Record, settings: Settings) -> tuple[str, str]:
    try:
        letter = parse_dead_letter(record.key(), None, safe_headers(record))
        reply_to = read_control(letter.original_headers).reply_to
    except SchemasError as wrong:
        return "?", str(wrong)
    return (reply_to.topic if reply_to else settings.outputs.results), letter.failure.message
