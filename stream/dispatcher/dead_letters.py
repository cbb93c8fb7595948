"""Dead letters of the dispatcher: the record as it came, and why it goes no further."""

from __future__ import annotations

from typing import Final

from schemas.carry import carry, split_replay
from schemas.control import headers_size
from schemas.dead_letter import DeadLetter, parse_dead_letter, write_dead_letter
from schemas.failure import ErrorClass, Failure, Stage
from schemas.source import Source
from stream.config.settings import Settings
from stream.dispatcher.partial_metadata import PartialMetadata, found_in_result, found_in_work
from stream.errors import LogError
from stream.log import reasons
from stream.log.base import LogAdmin, Output, Record
from stream.log.readable import headers_told

#: What Kafka adds to a record's own bytes: the head of its batch, and a few bytes for each header.
BATCH_HEAD_BYTES: Final = 1024
HEADER_HEAD_BYTES: Final = 12
#: Headers that a dead letter has of ours, at most.
OWN_HEADERS_MAX: Final = 24
DESCRIBE_TIMEOUT_S: Final = 10.0


class DeadLetters:
    """Writes them so that they fit their topic: what does not is left out and said to be."""

    def __init__(self, settings: Settings, admin: LogAdmin) -> None:
        self._topic = settings.outputs.dead_letters
        self._group = settings.dispatcher_group
        self._work_prefix = settings.own_topic("work.")
        self._bytes_max = _bytes_max(settings, admin)

    def write(self, record: Record, failure: Failure, found: PartialMetadata) -> Output:
        """The dead letter of an input record."""
        given, omitted_bytes = headers_told(record)
        letter = DeadLetter(
            key=record.key(),
            value=record.value(),
            carried=carry(given),
            source=Source(record.topic(), record.partition(), record.offset()),
            source_timestamp_ms=max(0, record.timestamp()[1]),
            group=self._group,
            failure=failure,
            replay=split_replay(given)[1] if given else 0,
            tenant=found.tenant,
            lane=found.lane,
            endpoint=found.endpoint,
            format=found.format,
            headers_omitted=omitted_bytes,
        )
        heads = BATCH_HEAD_BYTES + HEADER_HEAD_BYTES * (len(letter.carried) + OWN_HEADERS_MAX)
        return Output(self._topic, *write_dead_letter(letter, max(0, self._bytes_max - heads)))

    def substitute(self, record: Record, output: Output, reason: str) -> Output:
        """What goes in place of an output that its topic refused when it stood alone.

        LogError where one of our own topics refuses what it must take: stop and alarm.
        """
        if output.topic == self._topic:
            return self._lighter(output, reason)
        is_work = output.topic.startswith(self._work_prefix)
        if reason == reasons.TOO_LARGE:
            size = len(output.value or b"")
            words = f"the record of {size} bytes does not fit the topic {output.topic}"
            failure = Failure(ErrorClass.TOO_LARGE, Stage.PUBLISH, words)
        elif is_work:
            raise LogError(f"{output.topic} takes no records: {reason}")
        else:
            words = f"the reply topic {output.topic!r} takes no records: {reason}"
            failure = Failure(ErrorClass.UNWRITABLE, Stage.PUBLISH, words)
        return self.write(record, failure, found_in_work(output) if is_work else found_in_result(output))

    def _lighter(self, output: Output, reason: str) -> Output:
        letter = parse_dead_letter(output.key, output.value, output.headers)
        if reason != reasons.TOO_LARGE or letter.value is None:
            raise LogError(f"the dead-letter topic {self._topic} takes no records: {reason}")
        # One byte less than it has now, so that the value, which goes first, is left out.
        size = headers_size(output.headers) + len(output.key or b"") + len(letter.value)
        return Output(self._topic, *write_dead_letter(letter, size - 1))


def _bytes_max(settings: Settings, admin: LogAdmin) -> int:
    """The configured bound, or less where the topic takes less."""
    topic = settings.outputs.dead_letters
    bound = settings.limits.dead_letter_bytes_max
    try:
        found = admin.describe([topic], DESCRIBE_TIMEOUT_S)[topic]
    except LogError:
        return bound
    size = found.settings.get("max.message.bytes") if found else None
    return bound if size is None else min(bound, int(size))
