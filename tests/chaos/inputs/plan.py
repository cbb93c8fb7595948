"""One planned input record, and what must become of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from schemas.failure import ErrorClass, Stage
from schemas.headers import Headers

#: Header with the record's number: it travels to result and dead letter, and the checker finds the plan by it.
NUMBER: Final = "chaos-number"


#: Where records of this suite die, by their class.
_STAGES: Final = {
    ErrorClass.UNREADABLE: Stage.DECODE,
    ErrorClass.INVALID: Stage.VALIDATE,
    ErrorClass.UNKNOWN_ENDPOINT: Stage.ROUTE,
    ErrorClass.EXPIRED: Stage.ROUTE,
    ErrorClass.POISON: Stage.ENGINE,
    ErrorClass.TOO_LARGE: Stage.PUBLISH,
}


class OrderKey(NamedTuple):
    """Outputs of records that share one go in input order; the partition joins later."""

    tenant: str
    session: str
    lane: str


@dataclass(frozen=True, slots=True)
class Planned:
    """A record to send. `dies_as` None: it must be answered; else the class of its dead letter."""

    number: int
    partition: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    dies_as: ErrorClass | None = None
    order: OrderKey | None = None

    @property
    def dies_at(self) -> Stage | None:
        return None if self.dies_as is None else _STAGES[self.dies_as]

    def wire_headers(self) -> Headers:
        """Its own headers and its number."""
        return [*self.headers, (NUMBER, str(self.number).encode())]


def number_of(headers: Headers | None) -> int | None:
    """The plan's number in a record's headers."""
    for name, value in headers or ():
        if name == NUMBER and value is not None:
            return int(value)
    return None
