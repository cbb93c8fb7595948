"""Answers and dead letters of what is wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schemas.dead_letter import parse_dead_letter
from schemas.errors import SchemasError
from stream.cli.finding.hit import Hit, State
from stream.cli.finding.scan import scan
from stream.cli.finding.wanted import Wanted, position
from stream.client.deadline import Deadline
from stream.config.loops import reply_patterns
from stream.config.settings import Settings
from stream.log.base import LogReader, Record
from stream.log.readable import safe_headers


def output_topics(settings: Settings, topics: Iterable[str]) -> list[str]:
    """Of the topics that exist: those where an answer or a dead letter may be."""
    replies = reply_patterns(settings)
    dead = settings.outputs.dead_letters
    return [topic for topic in topics if topic == dead or any(reply.matches(topic) for reply in replies)]


def outputs(reader: LogReader, settings: Settings, wanted: Wanted, deadline: Deadline) -> Iterator[Hit]:
    """From where `reader` is to the present end."""
    for record in scan(reader, deadline):
        source = wanted.later(record)
        if source is None:
            continue
        if record.topic() == settings.outputs.dead_letters:
            yield Hit(source, State.DEAD, position(record), _cause(record))
        else:
            yield Hit(source, State.ANSWERED, position(record))
        if wanted.single is not None:
            return


def _cause(record: Record) -> str:
    """The failure, in a line."""
    try:
        failure = parse_dead_letter(record.key(), record.value(), safe_headers(record)).failure
    except SchemasError as wrong:
        return f"its cause cannot be read: {wrong}"
    return f"{failure.error_class} ({failure.stage}): {failure.message}"
