"""Words for a field that is wrong: where it stands, what was found, what would be right."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from schemas.fields.bodies import BODY_OF, LINE
from schemas.fields.messages import MESSAGE_OF
from schemas.limits import STOPS_MAX
from schemas.task import Task

_MESSAGE: Final = "$.body.messages[...]"
#: Path ([...]: any index or key) -> what would be right there; msgspec's own words say what was found.
RIGHT: Final[dict[str, str]] = {
    **{f"$.{name}": field.words for name, field in LINE.fields.items()},
    "$.url": 'text such as "/v1/chat/completions"',
    "$.custom_id": "text or null",
    **{f"{_MESSAGE}.{name}": field.words for name, field in MESSAGE_OF["assistant"].fields.items()},
    f"{_MESSAGE}.tools": "a list of tools",
    f"{_MESSAGE}.tool_call_id": "text: the id of the call",
    "$.body.stop[...]": f"non-empty text, at most {STOPS_MAX} of them",
    "$.body.metadata[...]": "text",
    "$.body.prompt[...]": "text, a token id or a list of token ids",
    "$.body.input[...]": "text, a token id or a list of token ids",
}

_MISSING: Final = re.compile(r"Object missing required field `(\w+)`(?: - at `(.+)`)?")
_INDEX: Final = re.compile(r"\[\d+\]")
_PLACED: Final = re.compile(r"(.*) - at `(.+)`", re.DOTALL)


def explain(error: msgspec.ValidationError, task: Task | None = None) -> str:
    """In a line of `task`: `$.body.max_tokens: expected int, got str; right is a whole number …`."""
    text = str(error)
    if missing := _MISSING.fullmatch(text):
        path = f"{missing[2] or '$'}.{missing[1]}"
        return f"{path}: missing{_what_is_right(path, task)}"
    if placed := _PLACED.fullmatch(text):
        return f"{placed[2]}: {_plain(placed[1])}{_what_is_right(placed[2], task)}"
    return _plain(text)


def _plain(text: str) -> str:
    return (text[:1].lower() + text[1:]).replace("`", "")


def _what_is_right(path: str, task: Task | None) -> str:
    place = _INDEX.sub("[...]", path)
    right = RIGHT.get(place)
    while right is None and place.startswith("$.body."):
        right = _of_body(place.removeprefix("$.body."), task)
        place, bracket, _ = place.rpartition("[...]")
        if not bracket:
            break
    return "" if right is None else f"; right is {right}"


def _of_body(name: str, task: Task | None) -> str | None:
    """Tasks that know a field say nearly the same of it."""
    levels = BODY_OF.values() if task is None else [BODY_OF[task]]
    return next((level.fields[name].words for level in levels if name in level.honoured), None)
