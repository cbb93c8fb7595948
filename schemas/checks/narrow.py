"""A body of seldom fields that has none of them becomes a usual one: smaller, and the same however it was read."""

from __future__ import annotations

from typing import Any

from schemas.request import Body, Message


def narrow(body: Body) -> Body:
    """The same fields in the smallest type that holds them."""
    if _has_seldom(body, Body.__struct_fields__):
        return body
    fields: dict[str, Any] = {name: getattr(body, name) for name in Body.__struct_fields__}
    if body.messages is not None:
        fields["messages"] = [_narrow_message(message) for message in body.messages]
    return Body(**fields)


def _narrow_message(message: Message) -> Message:
    if _has_seldom(message, Message.__struct_fields__):
        return message
    return Message(*(getattr(message, name) for name in Message.__struct_fields__))


def _has_seldom(value: Body | Message, usual: tuple[str, ...]) -> bool:
    return any(getattr(value, name) is not None for name in value.__struct_fields__[len(usual) :])
