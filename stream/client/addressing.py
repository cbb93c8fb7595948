"""What goes beside a line's bytes: the record's key and its headers, given for all lines or taken from fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from schemas.headers import Headers
from stream.client.session import session_headers, session_of


class Given(NamedTuple):
    """The same for all lines, or the name of the field that holds it; neither: there is none."""

    value: bytes | None = None
    field: str | None = None

    def of(self, line: bytes) -> bytes | None:
        """NoSession where the field is not there."""
        return self.value if self.field is None else session_of(line, self.field)


NOTHING: Final = Given()


@dataclass(frozen=True, slots=True)
class Addressing:
    """A session is the key too, unless a key of its own is given."""

    fixed: Headers = field(default_factory=list)
    key: Given = NOTHING
    session: Given = NOTHING
    #: (header, field).
    header_fields: Sequence[tuple[str, str]] = ()

    def of(self, line: bytes) -> tuple[bytes | None, Headers]:
        """(key, headers) of one line; NoSession says which field is not there."""
        session = self.session.of(line)
        key = self.key.of(line)
        taken: Headers = [(name, session_of(line, where)) for name, where in self.header_fields]
        return session if key is None else key, [*self.fixed, *session_headers(session), *taken]
