"""One request of the input, and how far the input has been sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import msgspec

from schemas.headers import Headers


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """All rows below `rows` are sent; the next one is read from here."""

    rows: int = 0
    #: Lines of the file that were read, blank ones counted.
    line: int = 0
    #: Bytes of a file of lines, rows of a table.
    position: int = 0


class Row(NamedTuple):
    """A row counts from 0, blank lines left out: it is the identity of its request, whatever its custom_id."""

    number: int
    #: For people: the line of the file from 1 on, or the row of a table.
    line: int
    key: bytes | None
    #: The request line; None where the row cannot be sent.
    value: bytes | None
    headers: Headers
    #: Where the row after this one begins.
    after: Mark
    #: Why it cannot be sent.
    problem: str = ""
    #: Of a row that cannot be sent, where it is known.
    custom_id: str | None = None


class Rows(Protocol):
    """An input file of either kind."""

    def read(self, begin: Mark) -> Iterator[Row]:
        """The rows from `begin` on. UsageError where the file cannot be read."""
