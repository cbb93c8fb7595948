"""The structure that an answer must have: asked for by `response_format` or `structured_outputs`, one kind of five.

Only the shape of the wish is judged here; whether a schema, regex or grammar compiles is found by the worker.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final, NamedTuple

import msgspec

from schemas.errors import BadRecord
from schemas.json_text import DEPTH_MAX, deeper_than
from schemas.request import Body

CHOICES_MAX: Final = 1_000


class StructureKind(StrEnum):
    """What the answer is held to."""

    CHOICE = "choice"
    REGEX = "regex"
    GRAMMAR = "grammar"
    JSON = "json"
    JSON_OBJECT = "json_object"


_KIND_OF: Final[dict[str, StructureKind]] = {kind.value: kind for kind in StructureKind}


class Structure(NamedTuple):
    """`value`: CHOICE a list of texts, REGEX and GRAMMAR text, JSON a schema (dict), JSON_OBJECT True."""

    kind: StructureKind
    value: Any


def structure_of(body: Body) -> Structure | None:
    """What `body` asks for, None for free text; BadRecord (`invalid`) where the wish is malformed or twofold."""
    wished = None if body.response_format is None else _of_response_format(body.response_format)
    if body.structured_outputs is None:
        return wished
    if wished is not None:
        raise BadRecord.invalid(
            "$.body: response_format and structured_outputs both ask for a structure; give one"
        )
    return _of_structured_outputs(body.structured_outputs)


def _of_response_format(wish: dict[str, Any]) -> Structure | None:
    match wish.get("type"):
        case "text":
            return None
        case "json_object":
            return Structure(StructureKind.JSON_OBJECT, True)
        case "json_schema":
            return _of_json_schema(wish.get("json_schema"))
        case _:
            raise _wrong("response_format.type", "text, json_object or json_schema")


def _of_json_schema(holder: object) -> Structure:
    if not isinstance(holder, dict) or not isinstance(holder.get("schema"), dict):
        raise _wrong("response_format.json_schema", 'an object {"name": …, "schema": {…}}')
    return Structure(StructureKind.JSON, holder["schema"])


def _of_structured_outputs(wish: dict[str, Any]) -> Structure:
    kinds = [
        _KIND_OF[name] for name, value in wish.items() if name in _KIND_OF and value not in (None, False)
    ]
    if len(kinds) != 1:
        found = ", ".join(kinds) or "none"
        raise BadRecord.invalid(
            f"$.body.structured_outputs: {found} given; right is exactly one of {', '.join(StructureKind)}"
        )
    kind = kinds[0]
    return Structure(kind, _checked(kind, wish[kind]))


def _checked(kind: StructureKind, value: object) -> Any:
    match kind:
        case StructureKind.CHOICE:
            if not are_choices(value):
                raise _wrong("structured_outputs.choice", f"a list of 1 to {CHOICES_MAX} non-empty texts")
            return value
        case StructureKind.JSON:
            return _schema(value)
        case StructureKind.JSON_OBJECT:
            if value is not True:
                raise _wrong("structured_outputs.json_object", "true")
            return True
        case StructureKind.REGEX | StructureKind.GRAMMAR:
            if not isinstance(value, str) or not value:
                raise _wrong(f"structured_outputs.{kind}", "non-empty text")
            return value


def are_choices(value: object) -> bool:
    """A list of 1 to CHOICES_MAX non-empty texts."""
    if not isinstance(value, list) or not 1 <= len(value) <= CHOICES_MAX:
        return False
    # Lists, not generators: this is on the path of every record with choices.
    return all(value) and set(map(type, value)) == {str}


def _schema(value: object) -> dict[str, Any]:
    """A schema is an object, or the JSON text of one."""
    if isinstance(value, str):
        value = _parsed(value)
    if not isinstance(value, dict):
        raise _wrong("structured_outputs.json", "a JSON schema: an object, or its JSON text")
    return value


def _parsed(text: str) -> object:
    raw = text.encode()
    if deeper_than(raw, DEPTH_MAX):
        raise _wrong("structured_outputs.json", f"nested at most {DEPTH_MAX} levels")
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError as error:
        raise _wrong("structured_outputs.json", f"JSON text (not so: {error})") from error


def _wrong(field: str, right: str) -> BadRecord:
    return BadRecord.invalid(f"$.body.{field}: wrong; right is {right}")
