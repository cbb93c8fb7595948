"""What is looked for: an input position, all records of a custom_id, or all that hold a text."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Protocol

from schemas import headers as names
from schemas.custom_id import custom_id_in
from schemas.source import Source
from stream.log.base import Record
from stream.log.readable import safe_headers


class Wanted(Protocol):
    """Whether a record is one of those."""

    #: An input position has exactly one output: nothing is left to look for once it is found.
    single: Source | None

    def on_input(self, record: Record) -> bool:
        """As it was produced."""

    def later(self, record: Record) -> Source | None:
        """On a work or output topic: its source, if it is wanted."""


class WantedSource:
    """One input position."""

    def __init__(self, source: Source) -> None:
        self.single: Source | None = source
        self._header = str(source).encode()

    def on_input(self, record: Record) -> bool:
        return position(record) == self.single

    def later(self, record: Record) -> Source | None:
        return self.single if _header(record) == self._header else None


class WantedSources:
    """Several input positions, on their later ways only."""

    single: Source | None = None

    def __init__(self, sources: Collection[Source]) -> None:
        self._sources = {str(source).encode(): source for source in sources}

    def on_input(self, record: Record) -> bool:
        return str(position(record)).encode() in self._sources

    def later(self, record: Record) -> Source | None:
        return self._sources.get(_header(record) or b"")


class WantedId:
    """All records with this custom_id."""

    single: Source | None = None

    def __init__(self, custom_id: str) -> None:
        raw = custom_id.encode("utf-8", "surrogateescape")
        self._custom_id = custom_id
        #: These bytes stand in every line that has the id, whatever its writer escapes.
        self._plain = _longest_plain(raw)
        #: Avro writes a string as its length in bytes, zigzag, then the bytes.
        self._avro = _zigzag(len(raw)) + raw

    def on_input(self, record: Record) -> bool:
        return self._has_id(record.value())

    def later(self, record: Record) -> Source | None:
        return source_of(record) if self._has_id(record.value()) else None

    def _has_id(self, value: bytes | None) -> bool:
        if value is None or self._plain not in value:
            return False
        if custom_id_in(value) == self._custom_id:
            return True
        return not value.lstrip().startswith(b"{") and self._avro in value


class WantedText:
    """All records that came since then and have this text in their values; of outputs, dead letters only."""

    single: Source | None = None

    def __init__(self, text: str, dead_letters: str, since_ms: int | None = None) -> None:
        self._dead_letters = dead_letters
        self._since_ms = since_ms
        #: As it stands, and as JSON may write it: some writers escape all that is not ASCII.
        self._forms = {
            text.encode("utf-8", "surrogateescape"),
            *(
                json.dumps(text, ensure_ascii=ascii_)[1:-1].encode("utf-8", "replace")
                for ascii_ in (True, False)
            ),
        }

    def on_input(self, record: Record) -> bool:
        value = record.value()
        late_enough = self._since_ms is None or record.timestamp()[1] >= self._since_ms
        return value is not None and late_enough and any(form in value for form in self._forms)

    def later(self, record: Record) -> Source | None:
        if record.topic() == self._dead_letters and self.on_input(record):
            return source_of(record)
        return None


def position(record: Record) -> Source:
    """Where a record stands."""
    return Source(record.topic(), record.partition(), record.offset())


def source_of(record: Record) -> Source | None:
    """The input position that a work record, a result or a dead letter carries; None on foreign records."""
    header = _header(record)
    try:
        return None if header is None else Source.parse(header.decode("utf-8"))
    except ValueError:
        return None


def _header(record: Record) -> bytes | None:
    for name, value in safe_headers(record) or ():
        if name == names.SOURCE:
            return value
    return None


def _longest_plain(raw: bytes) -> bytes:
    """The longest piece of letters and digits: no JSON writer escapes those."""
    spaced = bytes(byte if byte < 128 and chr(byte).isalnum() else 32 for byte in raw)
    return max(spaced.split(), key=len, default=b"")


def _zigzag(number: int) -> bytes:
    """A length as Avro's varint."""
    rest, out = number << 1, bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)
