"""Dead letters of records that an operator skips: what a careful reader gives of them, under their own source."""

from __future__ import annotations

from typing import Final

from schemas.control import readable_control
from schemas.dead_letter import DeadLetter, write_dead_letter
from schemas.errors import SchemasError
from schemas.failure import ErrorClass, Failure, Stage
from schemas.own_headers import carried_of
from schemas.source import Source
from schemas.work_record import parse_work
from stream.config.settings import Settings
from stream.dispatcher.bindings import Bindings
from stream.dispatcher.dead_letters import DeadLetters
from stream.dispatcher.partial_metadata import found_in_input
from stream.log.base import LogAdmin, Output, Record
from stream.log.readable import headers_told

SKIPPED: Final = Failure(
    ErrorClass.UNREADABLE,
    Stage.DECODE,
    "its batch did not come out for the service (it unpacks to too much, or its bytes changed): skipped by an operator",
)


class SkippedLetters:
    """Of one group's partitions."""

    def __init__(self, settings: Settings, admin: LogAdmin, group: str) -> None:
        self._settings = settings
        self.group = group
        self._letters = DeadLetters(settings, admin)
        self._bindings = Bindings(settings)

    def write(self, record: Record) -> Output:
        """Its one output."""
        if self.group == self._settings.dispatcher_group:
            return self._of_input(record)
        return self._of_work(record)

    def _of_input(self, record: Record) -> Output:
        bound = self._settings.limits.headers_bytes_max
        control = readable_control(headers_told(record).headers, record.key(), bound)
        return self._letters.write(
            record, SKIPPED, found_in_input(self._bindings.find(record.topic()), control, None)
        )

    def _of_work(self, record: Record) -> Output:
        """Its source is the input's; one that is none of ours stands for itself."""
        headers, omitted = headers_told(record)
        try:
            work = parse_work(record.key(), record.value(), headers)
            letter = DeadLetter(
                work.key,
                work.value,
                work.carried,
                work.source,
                work.source_timestamp_ms,
                self.group,
                SKIPPED,
                replay=work.replay,
                tenant=work.tenant,
                lane=work.lane,
                endpoint=work.endpoint,
                format=work.format,
            )
        except SchemasError:
            letter = DeadLetter(
                record.key(),
                record.value(),
                carried_of(headers),
                Source(record.topic(), record.partition(), record.offset()),
                max(0, record.timestamp()[1]),
                self.group,
                SKIPPED,
                headers_omitted=omitted,
            )
        written = write_dead_letter(letter, self._settings.limits.dead_letter_bytes_max)
        return Output(self._settings.outputs.dead_letters, *written)
