"""What a line must hold beyond the types of its fields: url, method, the task's own field, parts, structures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from schemas.errors import BadRecord
from schemas.request import INPUT_TEXTS_MAX, TASK_OF_URL, Body, Line, Message, Request, Task
from schemas.structure import structure_of

METHOD: Final = "POST"


def request_of(line: Line) -> Request:
    """The validated request; BadRecord (`invalid` at validate) says which field, why, and what would be right."""
    known = _BY_URL.get(line.url)
    if known is None:
        raise BadRecord.invalid(
            f"$.url: {_short(line.url)} is unknown; right is one of {', '.join(TASK_OF_URL)}"
        )
    if line.method is not None and line.method != METHOD:
        raise BadRecord.invalid(f'$.method: {_short(line.method)} is unknown; right is "{METHOD}"')
    body = line.body
    task, check = known
    check(body)
    if body.response_format is not None or body.structured_outputs is not None:
        structure_of(body)
    return Request(task, body, line.custom_id)


def _check_chat(body: Body) -> None:
    if body.messages is None:
        raise BadRecord.invalid("$.body.messages: missing; a chat needs a list of one or more messages")
    for place, message in enumerate(body.messages):
        if message.content.__class__ is list:
            _check_parts(place, message)


def _check_parts(place: int, message: Message) -> None:
    parts: Any = message.content
    for index, part in enumerate(parts):
        if part.get("type") != "text" or not isinstance(part.get("text"), str):
            raise BadRecord.invalid(
                f"$.body.messages[{place}].content[{index}]: not a text part; "
                'right is {"type": "text", "text": …}'
            )


def _check_completion(body: Body) -> None:
    if body.prompt is None:
        raise BadRecord.invalid("$.body.prompt: missing; a completion needs text or a list of token ids")


def _check_embedding(body: Body) -> None:
    if body.input is None:
        raise BadRecord.invalid("$.body.input: missing; an embedding needs text, texts or token ids")
    if isinstance(body.input, list) and len({item.__class__ for item in body.input}) > 1:
        raise BadRecord.invalid("$.body.input: texts and token ids are mixed; right is one or the other")
    if isinstance(body.input, list) and isinstance(body.input[0], str) and len(body.input) > INPUT_TEXTS_MAX:
        raise BadRecord.invalid(
            f"$.body.input: {len(body.input)} texts; right are at most {INPUT_TEXTS_MAX} in one request"
        )


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:80] + "…")


_CHECKS: Final[Mapping[Task, Callable[[Body], None]]] = {
    Task.CHAT: _check_chat,
    Task.COMPLETION: _check_completion,
    Task.EMBEDDING: _check_embedding,
}
_BY_URL: Final = {url: (task, _CHECKS[task]) for url, task in TASK_OF_URL.items()}
