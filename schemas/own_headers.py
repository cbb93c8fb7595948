"""Our own headers on a record that comes back: told from the producer's, and read with clear errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schemas import headers as names
from schemas.carry import Carried
from schemas.errors import ForeignRecord, NewerVersion
from schemas.headers import FORMAT_VERSION, KEPT_PREFIX, OWN_PREFIX, Header

Own = Mapping[str, bytes | None]


def carried_of(headers: Sequence[Header]) -> Carried:
    """The producer's part: all but our own."""
    return tuple(
        header
        for header in headers
        if not header[0].startswith(OWN_PREFIX) or header[0].startswith(KEPT_PREFIX)
    )


def check_version(own: Own) -> None:
    """NewerVersion where a later Headrace wrote the record; ForeignRecord where nobody of ours did."""
    version = text_of(own, names.VERSION)
    if not (version.isascii() and version.isdigit() and len(version) <= 9):
        raise ForeignRecord(f"header {names.VERSION} is not a number: {version[:80]!r}")
    if int(version) > FORMAT_VERSION:
        raise NewerVersion(f"a record of version {version}; this program reads up to {FORMAT_VERSION}")


def text_of(own: Own, name: str) -> str:
    """The text of a header that ours always have; ForeignRecord where it is missing or not UTF-8."""
    text = optional_text(own, name)
    if text is None:
        raise ForeignRecord(f"header {name} is missing")
    return text


def optional_text(own: Own, name: str) -> str | None:
    value = own.get(name)
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError as error:
        raise ForeignRecord(f"header {name} is not UTF-8: {value!r:.80}") from error


def number_of(own: Own, name: str) -> int:
    """The whole number of a header that ours always have; ForeignRecord where it is none."""
    number = optional_number(own, name)
    if number is None:
        raise ForeignRecord(f"header {name} is missing")
    return number


def optional_number(own: Own, name: str) -> int | None:
    value = own.get(name)
    if value is None:
        return None
    if not (value.removeprefix(b"-").isdigit() and len(value) <= 20):
        raise ForeignRecord(f"header {name} is not a number: {value[:80]!r}")
    return int(value)
