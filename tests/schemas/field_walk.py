"""Walks the types of somebody else's requests, level by level, and finds fields whose fate nobody has decided."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator
from typing import Any

from schemas.fields.level import Fate, Level
from schemas.fields.messages import MESSAGE_OF, PART_OF, REFUSED_PARTS
from schemas.fields.structures import JSON_SCHEMA, REPETITION_DETECTION, RESPONSE_FORMAT, STRUCTURED_OUTPUTS
from schemas.fields.tools import CALLED_FUNCTION, CHOSEN_FUNCTION, FUNCTION, TOOL, TOOL_CALL, TOOL_CHOICE

#: Where the objects of an honoured field stand: by the field, and by the level and the field.
BELOW: dict[str | tuple[str, str], Level] = {
    "tools": TOOL,
    "tool_calls": TOOL_CALL,
    "tool_choice": TOOL_CHOICE,
    "response_format": RESPONSE_FORMAT,
    "json_schema": JSON_SCHEMA,
    "structured_outputs": STRUCTURED_OUTPUTS,
    "repetition_detection": REPETITION_DETECTION,
    (TOOL.title, "function"): FUNCTION,
    (TOOL_CALL.title, "function"): CALLED_FUNCTION,
    (TOOL_CHOICE.title, "function"): CHOSEN_FUNCTION,
}
#: Roles that are refused as such.
OTHER_ROLES = {"function"}
#: Classes that no JSON makes.
OF_PYTHON_ONLY = {"openai_harmony.Message", "PILImage"}


def undecided(kind: Any, level: Level, path: str) -> list[str]:
    """Paths of fields of `kind`, and of all below it, that have no fate."""
    found: list[str] = []
    for name, hint in fields_of(kind).items():
        field = level.fields.get(name)
        if field is None:
            found.append(f"{path}.{name} ({kind.__name__} as a {level.title})")
        elif field.fate is Fate.HONOURED:
            for inner in classes_in(hint):
                found += below(inner, level, name, f"{path}.{name}")
    return found


def below(kind: Any, level: Level, name: str, path: str) -> list[str]:
    """Of one class that an honoured field may hold."""
    if name == "messages":
        roles = literals_of(kind, "role") or list(MESSAGE_OF)
        return [
            one
            for role in roles
            if role not in OTHER_ROLES
            for one in undecided(kind, MESSAGE_OF[role], path)
        ]
    if name == "input" and "role" in fields_of(kind):
        return []  # messages as an embedding's input are refused whole, by their type (test_fates.py)
    if name == "content":
        return _of_part(kind, path)
    inner = BELOW.get((level.title, name)) or BELOW.get(name)
    return [f"{path}: {kind.__name__} is no level"] if inner is None else undecided(kind, inner, path)


def _of_part(kind: Any, path: str) -> list[str]:
    names = literals_of(kind, "type") or [name for name in fields_of(kind) if name in REFUSED_PARTS]
    if not names:
        return [f"{path}: {kind.__name__} is no kind of part"]
    found = []
    for name in names:
        if name in PART_OF:
            found += undecided(kind, PART_OF[name], path)
        elif name not in REFUSED_PARTS:
            found.append(f"{path}: parts of type {name}")
    return found


def fields_of(kind: Any) -> dict[str, Any]:
    """Name as JSON has it -> type; of a TypedDict, a dataclass or a pydantic model."""
    if hasattr(kind, "model_fields"):
        return {field.alias or name: field.annotation for name, field in kind.model_fields.items()}
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    return typing.get_type_hints(kind)


def literals_of(kind: Any, name: str) -> list[str]:
    """Values of a field that is one of a few texts."""
    hint = fields_of(kind).get(name)
    return (
        [str(value) for value in typing.get_args(hint)] if typing.get_origin(hint) is typing.Literal else []
    )


def classes_in(hint: Any) -> Iterator[Any]:
    """Classes with fields, however deep in unions and lists."""
    if isinstance(hint, type) and _has_fields(hint):
        if f"{hint.__module__.split('.')[0]}.{hint.__name__}" not in OF_PYTHON_ONLY:
            yield hint
        return
    for inner in typing.get_args(hint):
        yield from classes_in(inner)


def _has_fields(kind: type) -> bool:
    return (
        typing.is_typeddict(kind)
        or hasattr(kind, "model_fields")
        or dataclasses.is_dataclass(kind)
        or (hasattr(kind, "__required_keys__"))
    )
