"""The original of a dead letter, byte for byte; what was left out is fetched from where it came from."""

from __future__ import annotations

from schemas.carry import split_replay
from schemas.dead_letter import DeadLetter
from schemas.headers import REPLAY, Headers
from stream.config.settings import Settings
from stream.dispatcher.bindings import Bindings
from stream.errors import LogError, StreamError, TooManyHeaders, TopicMismatch
from stream.log.base import Log, LogReader, Output, Partition, Record

#: An answer to a read of one record.
FETCH_TIMEOUT_S = 10.0


class CannotReplay(StreamError):
    """This dead letter cannot go back; the message says why."""


class Originals:
    """Makes the record that goes back on its topic and partition."""

    def __init__(self, log: Log, settings: Settings) -> None:
        self._log = log
        self._bindings = Bindings(settings)

    def output(self, letter: DeadLetter) -> Output:
        """Key, value and the producer's headers as they came, the count of replays added. CannotReplay says why not."""
        topic, partition, _ = letter.source
        try:
            self._bindings.find(topic)
        except TopicMismatch as wrong:
            raise CannotReplay(f"nothing would read it: {wrong}") from wrong
        key, value, headers = letter.key, letter.value, letter.original_headers
        if not letter.whole:
            record = self._fetch(letter)
            key, value, headers = record.key(), record.value(), _without_count(record)
        count = (REPLAY, b"%d" % (letter.replay + 1))
        return Output(topic, key, value, [*headers, count], partition)

    def _fetch(self, letter: DeadLetter) -> Record:
        topic, partition, offset = letter.source
        try:
            reader = self._log.reader({Partition(topic, partition): offset})
            try:
                record = _first(reader)
            finally:
                reader.close()
        except LogError as wrong:
            raise CannotReplay(f"a part was left out, and its source cannot be read: {wrong}") from wrong
        if record is None or record.offset() != offset or not _is_source(record, letter):
            raise CannotReplay(f"a part was left out, and its source {letter.source} is gone")
        return record


def _is_source(record: Record, letter: DeadLetter) -> bool:
    """Whether it is the very record; a topic made anew has the same offsets for others."""
    value, size = record.value() or b"", letter.value_omitted
    return (
        max(0, record.timestamp()[1]) == letter.source_timestamp_ms
        and (letter.key_omitted is not None or record.key() == letter.key)
        and (len(value) == size if size is not None else record.value() == letter.value)
    )


def _first(reader: LogReader) -> Record | None:
    polled = reader.poll(1, FETCH_TIMEOUT_S)
    return polled.records[0] if polled.records else None


def _without_count(record: Record) -> Headers:
    try:
        headers = record.headers()
    except TooManyHeaders as many:
        raise CannotReplay(f"a part was left out, and its source has {many}") from many
    except UnicodeDecodeError as wrong:
        raise CannotReplay("a part was left out, and a header's name at its source is not UTF-8") from wrong
    return list(split_replay(headers)[0]) if headers else []
