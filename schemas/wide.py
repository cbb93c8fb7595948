"""The same line with room for unknown fields, which are kept in the record and ignored here."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from schemas.request import Body, Line, Message


class WideMessage(Message, frozen=True, gc=False, forbid_unknown_fields=False):
    """A message with fields that Headrace does not read."""


class WideBody(Body, frozen=True, gc=False, forbid_unknown_fields=False):
    """A body with fields that Headrace does not read."""

    messages: Annotated[list[WideMessage], Meta(min_length=1)] | None = None  # type: ignore[assignment]


class WideLine(Line, frozen=True, gc=False, forbid_unknown_fields=False):
    """A line with fields that Headrace does not read."""

    body: WideBody
    url: str


def narrow(line: WideLine) -> Line:
    """Forget the difference: what follows sees one type only."""
    return msgspec.convert(line, Line, from_attributes=True)
