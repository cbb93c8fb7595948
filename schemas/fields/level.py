"""A level of a request (body, message, part, tool …): its known fields, and the fate of each."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

from schemas.errors import BadRecord


class Fate(StrEnum):
    """What becomes of a field that is given."""

    HONOURED = "honoured"
    #: The record is `invalid`; the message says what to do instead.
    REFUSED = "refused"
    #: It has no effect, and the result names it (`headrace.ignored`).
    NAMED = "named"


class Field(NamedTuple):
    """`words`: HONOURED: which values are right; REFUSED: what to do; NAMED: why it has no effect."""

    fate: Fate
    words: str
    #: Values that ask for what happens anyway: as good as absent, like null.
    neutral: tuple[Any, ...] = ()


def honoured(right: str) -> Field:
    return Field(Fate.HONOURED, right)


def refused(instead: str, *neutral: Any) -> Field:
    return Field(Fate.REFUSED, instead, neutral)


def named(why: str, *neutral: Any) -> Field:
    return Field(Fate.NAMED, why, neutral)


class Level:
    """One level. A field that it does not know is named in the result, or refused where the level is `closed`."""

    def __init__(self, title: str, fields: Mapping[str, Field], closed: str = "") -> None:
        """`closed`: what to do instead of giving a field that is not known here."""
        self.title: Final = title
        self.fields: Final = fields
        self.closed: Final = closed
        self.honoured: Final = frozenset(n for n, field in fields.items() if field.fate is Fate.HONOURED)

    def refuse(self, name: str, path: str) -> None:
        """BadRecord where the field of that name must not be given here."""
        field = self.fields.get(name)
        if field is None and self.closed:
            raise BadRecord.invalid(f"{path}: not taken; {self.closed}")
        if field is not None and field.fate is Fate.REFUSED:
            raise BadRecord.invalid(f"{path}: not taken; {field.words}")

    def is_neutral(self, name: str, value: Any) -> bool:
        """Whether a known field's value asks for nothing: null, or what happens anyway."""
        field = self.fields.get(name)
        if field is None:
            return False
        return value is None or any(
            value.__class__ is one.__class__ and value == one for one in field.neutral
        )
