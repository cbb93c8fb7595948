"""Dead letters as they lie on their topic, filtered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from schemas.custom_id import custom_id_in
from schemas.dead_letter import DeadLetter, parse_dead_letter
from schemas.errors import ForeignRecord, NewerVersion
from schemas.failure import ErrorClass
from schemas.source import Source
from stream.config.settings import Settings
from stream.log.base import Log
from stream.log.readable import safe_headers

#: Without progress for so long a broker has gone.
PATIENCE_S = 30.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which dead letters; None: any."""

    error_class: ErrorClass | None = None
    tenant: str | None = None
    #: ms since the epoch: those that died then or later.
    since_ms: int | None = None
    #: Position of the input record.
    source: Source | None = None
    #: Any name of one: `partition/offset` of the letter, position of the input record, or custom_id.
    name: str | None = None

    def matches(self, found: FoundLetter) -> bool:
        letter = found.letter
        return (
            (self.error_class is None or letter.failure.error_class == self.error_class)
            and (self.tenant is None or letter.tenant == self.tenant)
            and (self.since_ms is None or found.died_ms >= self.since_ms)
            and (self.source is None or letter.source == self.source)
            and (self.name is None or found.is_named(self.name))
        )

    @property
    def everything(self) -> bool:
        return self == Wanted()


class FoundLetter(NamedTuple):
    """A dead letter and where it lies."""

    partition: int
    offset: int
    #: ms since the epoch.
    died_ms: int
    letter: DeadLetter

    @property
    def place(self) -> str:
        """`partition/offset`: the key of its marker."""
        return f"{self.partition}/{self.offset}"

    @property
    def custom_id(self) -> str | None:
        """Of the line as it came; also out of what is not JSON."""
        return custom_id_in(self.letter.value)

    def is_named(self, name: str) -> bool:
        return name in (self.place, str(self.letter.source)) or self.custom_id == name


def refuse(newer: NewerVersion) -> None:
    """Nothing is done with the others either."""
    raise newer


def find_dead_letters(
    log: Log,
    settings: Settings,
    wanted: Wanted = Wanted(),
    newer: Callable[[NewerVersion], None] = refuse,
) -> Iterator[FoundLetter]:
    """Everything on the topic that is wanted, up to its present end; LogTimeout.

    `newer` is called with one that a later version wrote, and where it lies; where it returns, the others follow.
    Records that are none of ours are passed over: the topic is the operator's to look at.
    """
    reader = log.reader([settings.outputs.dead_letters])
    try:
        for record in reader.to_end(PATIENCE_S):
            try:
                letter = parse_dead_letter(record.key(), record.value(), safe_headers(record))
            except ForeignRecord:
                continue
            except NewerVersion as wrong:
                newer(NewerVersion(f"{record.topic()}/{record.partition()}/{record.offset()}: {wrong}"))
                continue
            found = FoundLetter(record.partition(), record.offset(), record.timestamp()[1], letter)
            if wanted.matches(found):
                yield found
    finally:
        reader.close()
