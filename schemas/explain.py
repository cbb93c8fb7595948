"""Words for a field that is wrong: where it stands, what was found, what would be right."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from schemas.lane import LANE_OF_SERVICE_TIER
from schemas.request import ANSWERS_MAX, INPUT_TEXTS_MAX, INPUT_TOKENS_MAX, STOPS_MAX, TOKENS_MAX

_TOKENS: Final = f"a whole number from 1 to {TOKENS_MAX}"
#: Path ([...]: any index or key) -> what would be right there; msgspec's own words say what was found.
RIGHT: Final[dict[str, str]] = {
    "$.body": 'an object {"model": …, …}',
    "$.url": 'text such as "/v1/chat/completions"',
    "$.method": '"POST"',
    "$.custom_id": "text or null",
    "$.body.model": "text: the name of an endpoint",
    "$.body.messages": 'a list of one or more {"role", "content"} objects',
    "$.body.messages[...].role": "one of system, developer, user, assistant, tool",
    "$.body.messages[...].content": 'text, null or a list of {"type": "text", "text": …} parts',
    "$.body.prompt": "text, or a list of token ids",
    "$.body.input": f"text, a list of at most {INPUT_TEXTS_MAX} texts, or a list of at most {INPUT_TOKENS_MAX} token ids",
    "$.body.max_tokens": _TOKENS,
    "$.body.max_completion_tokens": _TOKENS,
    "$.body.temperature": "a number from 0 to 2",
    "$.body.top_p": "a number above 0, at most 1",
    "$.body.n": f"a whole number from 1 to {ANSWERS_MAX}",
    "$.body.stop": f"non-empty text, or a list of at most {STOPS_MAX} non-empty texts",
    "$.body.stop[...]": f"non-empty text, at most {STOPS_MAX} of them",
    "$.body.seed": "a whole number of 64 bits",
    "$.body.presence_penalty": "a number from -2 to 2",
    "$.body.frequency_penalty": "a number from -2 to 2",
    "$.body.metadata": "an object of texts",
    "$.body.metadata[...]": "text",
    "$.body.service_tier": "one of " + ", ".join(LANE_OF_SERVICE_TIER),
}

_MISSING: Final = re.compile(r"Object missing required field `(\w+)`(?: - at `(.+)`)?")
_INDEX: Final = re.compile(r"\[\d+\]")
_PLACED: Final = re.compile(r"(.*) - at `(.+)`", re.DOTALL)


def explain(error: msgspec.ValidationError) -> str:
    """`$.body.max_tokens: expected int, got str; right is a whole number …`."""
    text = str(error)
    if missing := _MISSING.fullmatch(text):
        path = f"{missing[2] or '$'}.{missing[1]}"
        return f"{path}: missing{_what_is_right(path)}"
    if placed := _PLACED.fullmatch(text):
        return f"{placed[2]}: {_plain(placed[1])}{_what_is_right(placed[2])}"
    return _plain(text)


def _plain(text: str) -> str:
    return (text[:1].lower() + text[1:]).replace("`", "")


def _what_is_right(path: str) -> str:
    right = RIGHT.get(_INDEX.sub("[...]", path))
    return "" if right is None else f"; right is {right}"
