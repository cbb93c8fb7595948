"""A body of seldom fields that has none of them becomes a usual one: smaller, and the same however it was read."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

import msgspec

from schemas.bodies import ChatBody, CompletionBody, EmbeddingBody, WholeMessage
from schemas.request import Body, Message


def _seldom(whole: type[Body | Message], usual: type[Body | Message]) -> tuple[Callable[[Any], Any], Any]:
    """What reads its seldom fields, and what that is where none is given."""
    names = whole.__struct_fields__[len(usual.__struct_fields__) :]
    return attrgetter(*names), (None,) * len(names)


_OF_MESSAGE, _NO_MESSAGE_FIELDS = _seldom(WholeMessage, Message)
_OF_BODY: Final[dict[type[Body], tuple[Callable[[Any], Any], Any]]] = {
    whole: _seldom(whole, Body) for whole in (ChatBody, CompletionBody, EmbeddingBody)
}


def narrow(body: Body) -> Body:
    """The same fields in the smallest type that holds them."""
    read, nothing = _OF_BODY[body.__class__]
    if read(body) != nothing:
        return body
    if body.messages is not None and any(_OF_MESSAGE(m) != _NO_MESSAGE_FIELDS for m in body.messages):
        return body
    return msgspec.convert(body, Body, from_attributes=True)
