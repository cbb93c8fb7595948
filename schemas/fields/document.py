"""Writes the tables of docs/requests.md: `python -m schemas.fields.document docs/requests.md`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from schemas.fields.bodies import CHAT, COMPLETION, EMBEDDING, LINE
from schemas.fields.generation import ROUTING, SAMPLING, UNSAFE
from schemas.fields.level import Fate, Field
from schemas.fields.messages import MESSAGE_OF, PART_OF, REFUSED_PARTS
from schemas.fields.structures import (
    CHAT_TEMPLATE_KWARGS,
    JSON_SCHEMA,
    METADATA,
    REPETITION_DETECTION,
    RESPONSE_FORMAT,
    STRUCTURED_OUTPUTS,
)
from schemas.fields.tools import CALLED_FUNCTION, CHOSEN_FUNCTION, FUNCTION, TOOL, TOOL_CALL, TOOL_CHOICE

BEGIN: Final = "<!-- fields: written by schemas/fields/document.py -->\n"
END: Final = "<!-- end of fields -->\n"
_SHARED: Final = {**ROUTING, **UNSAFE, **SAMPLING}
_EVERYWHERE: Final = {**ROUTING, **UNSAFE}
_OBJECTS: Final = (
    *PART_OF.values(),
    TOOL,
    FUNCTION,
    TOOL_CHOICE,
    CHOSEN_FUNCTION,
    TOOL_CALL,
    CALLED_FUNCTION,
    RESPONSE_FORMAT,
    JSON_SCHEMA,
    STRUCTURED_OUTPUTS,
    CHAT_TEMPLATE_KWARGS,
    REPETITION_DETECTION,
    METADATA,
)


def tables() -> str:
    """All tables, in Markdown."""
    roles = {role: level.fields for role, level in MESSAGE_OF.items()}
    objects = {level.title: level.fields for level in {id(one): one for one in _OBJECTS}.values()}
    return "\n".join(
        [
            _table("The line", LINE.fields),
            _table("Every body", _EVERYWHERE),
            _table("Chats and completions", SAMPLING),
            _table("Chats", _without(CHAT.fields, _SHARED)),
            _table("Completions", _without(COMPLETION.fields, _SHARED)),
            _table("Embeddings", _without(EMBEDDING.fields, _EVERYWHERE)),
            _grouped("Messages", "field of a message", roles),
            _grouped("Objects inside", "field", objects),
            _parts(),
        ]
    )


def _without(fields: Mapping[str, Field], others: Mapping[str, Field]) -> dict[str, Field]:
    return {name: field for name, field in fields.items() if name not in others}


def _table(title: str, fields: Mapping[str, Field]) -> str:
    """Honoured first; fields of which the same is to be said share a row."""
    alike: dict[tuple[Fate, str], list[str]] = {}
    for name, field in fields.items():
        alike.setdefault((field.fate, _words(field)), []).append(f"`{name}`")
    rows = [
        f"| {', '.join(names)} | {fate} | {words} |"
        for wanted in Fate
        for (fate, words), names in alike.items()
        if fate is wanted
    ]
    return "\n".join(
        [f"### {title}\n", "| field | fate | right values, what to do, or why |", _rule(3), *rows, ""]
    )


def _grouped(title: str, what: str, levels: Mapping[str, Mapping[str, Field]]) -> str:
    """Fields of several levels that are alike stand in one row."""
    places: dict[tuple[str, Fate, str], list[str]] = {}
    for level, fields in levels.items():
        for name, field in fields.items():
            places.setdefault((name, field.fate, _words(field)), []).append(level)
    rows = [
        f"| `{name}` | {_places(of, levels)} | {fate} | {words} |"
        for (name, fate, words), of in places.items()
    ]
    head = f"| {what} | of | fate | right values, what to do, or why |"
    return "\n".join([f"### {title}\n", head, _rule(4), *rows, ""])


def _places(of: list[str], levels: Iterable[str]) -> str:
    others = [level for level in levels if level not in of]
    if not others:
        return "all"
    return ", ".join(of) if len(of) <= len(others) or len(others) > 1 else f"all but {others[0]}"


def _words(field: Field) -> str:
    neutral = [json.dumps(value) for value in field.neutral]
    return field.words.replace("|", "\\|") + (f" (`{'`, `'.join(neutral)}` is fine)" if neutral else "")


def _parts() -> str:
    rows = [
        f"| {', '.join(f'`{name}`' for name in names)} | {words} |" for words, names in _by_words().items()
    ]
    return "\n".join(["### Parts that are refused\n", "| type | what to do |", _rule(2), *rows, ""])


def _by_words() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, words in REFUSED_PARTS.items():
        found.setdefault(words, []).append(name)
    return found


def _rule(columns: int) -> str:
    return "|" + " --- |" * columns


def document(page: str) -> str:
    """The page with its tables made anew."""
    head, rest = page.split(BEGIN)
    return head + BEGIN + "\n" + tables() + "\n" + END + rest.split(END)[1]


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(document(path.read_text(encoding="utf-8")), encoding="utf-8")
