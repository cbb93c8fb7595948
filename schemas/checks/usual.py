"""The usual line at its own speed: texts, and nothing beside them that needs a second look."""

from __future__ import annotations

from typing import Any, Final

from schemas.fields.structures import METADATA
from schemas.request import Body, Line, Message, Request
from schemas.structure import are_choices
from schemas.task import CHAT_URL, COMPLETION_URL, EMBEDDING_URL, Task

METHOD: Final = "POST"
_METADATA: Final = METADATA.honoured
#: A member of an enumeration costs as much as the rest when it is reached through its class.
_CHAT, _COMPLETION, _EMBEDDING = Task.CHAT, Task.COMPLETION, Task.EMBEDDING


def usual_request(line: Line) -> Request | None:
    """None: it may be right, and must be looked at more closely. A call less is a percent more here."""
    body = line.body
    if (
        (line.method is not None and line.method != METHOD)
        or body.response_format is not None
        or (body.structured_outputs is not None and not _is_choice(body.structured_outputs))
        or (body.metadata is not None and not body.metadata.keys() <= _METADATA)
    ):
        return None
    url = line.url
    if url == CHAT_URL:
        if body.prompt is None and body.input is None and _is_usual_chat(body.messages):
            return Request(_CHAT, body, line.custom_id)
    elif url == COMPLETION_URL:
        if body.prompt.__class__ is str and body.messages is None and body.input is None:
            return Request(_COMPLETION, body, line.custom_id)
    elif url == EMBEDDING_URL and body.input.__class__ is str and body == Body(body.model, input=body.input):
        return Request(_EMBEDDING, body, line.custom_id)
    return None


def _is_choice(outputs: dict[str, Any]) -> bool:
    """Choices and nothing beside: their depth is known."""
    return len(outputs) == 1 and are_choices(outputs.get("choice"))


def _is_usual_chat(messages: list[Message] | None) -> bool:
    if messages is None:
        return False
    for message in messages:
        if message.tool_calls is not None or message.tool_call_id is not None:
            return False
        if message.content.__class__ is not str and not _is_plain_parts(message.content):
            return False
    return True


def _is_plain_parts(content: Any) -> bool:
    """One or more `{"type": "text", "text": …}`, and nothing beside: their depth is known."""
    if not content or content.__class__ is not list:
        return False
    for part in content:
        if part.__class__ is not dict or len(part) != 2 or part.get("type") != "text":
            return False
        if part.get("text").__class__ is not str:
            return False
    return True
