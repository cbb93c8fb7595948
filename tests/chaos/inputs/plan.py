"""One planned input record, and what must become of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from schemas.failure import ErrorClass
from schemas.headers import Headers

#: Header with the record's number: it travels to result and dead letter, and the checker finds the plan by it.
NUMBER: Final = "chaos-number"


class OrderKey(NamedTuple):
    """Records that share one run one at a time, in input order (contract.md, 3); the partition joins later."""

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

    def wire_headers(self) -> Headers:
        """Its own headers and its number."""
        return [*self.headers, (NUMBER, str(self.number).encode())]


def number_of(headers: Headers | None) -> int | None:
    """The plan's number in a record's headers."""
    for name, value in headers or ():
        if name == NUMBER and value is not None:
            return int(value)
    return None
