"""The structure that a request asks its answer to have, from either place where OpenAI bodies may name it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple

import msgspec

from schemas.failure import ErrorClass, Stage
from schemas.request import Body
from workers.errors import RequestRejected


class Kind(StrEnum):
    """The kinds of structure; values are vLLM's field names."""

    JSON = "json"
    JSON_OBJECT = "json_object"
    REGEX = "regex"
    CHOICE = "choice"
    GRAMMAR = "grammar"
    #: What vLLM's tool parsers make: free text with calls of a fixed form in it.
    STRUCTURAL_TAG = "structural_tag"


#: Kinds whose definition is text as it stands.
_TEXTS: Final = frozenset({Kind.REGEX, Kind.GRAMMAR, Kind.STRUCTURAL_TAG})


class Structure(NamedTuple):
    """One structure. `text` is its whole definition (of JSON: the encoded schema), so it is also its identity."""

    kind: Kind
    text: str

    @property
    def schema(self) -> Any:
        """The JSON schema, of kind JSON."""
        return msgspec.json.decode(self.text)

    @property
    def choices(self) -> list[str]:
        """The choices, of kind CHOICE."""
        return msgspec.json.decode(self.text, type=list[str])


def structure_of(body: Body) -> Structure | None:
    """What `response_format` or `structured_outputs` asks for; None: free text. RequestRejected(invalid) if unclear."""
    if body.response_format is None and body.structured_outputs is None:
        return None
    asked = [*_from_outputs(body.structured_outputs or {}), *_from_format(body.response_format or {})]
    if len(asked) > 1:
        kinds = ", ".join(structure.kind for structure in asked)
        raise rejected(f"exactly one structure can be asked for, here are: {kinds}")
    return asked[0] if asked else None


def structure_in(outputs: Mapping[str, Any]) -> Structure | None:
    """The one structure among values by kind. RequestRejected(invalid) where there are more."""
    asked = _from_outputs(outputs)
    if len(asked) > 1:
        kinds = ", ".join(structure.kind for structure in asked)
        raise rejected(f"exactly one structure can be asked for, here are: {kinds}")
    return asked[0] if asked else None


def rejected(message: str) -> RequestRejected:
    """A structure that no engine can follow."""
    return RequestRejected(ErrorClass.INVALID, Stage.VALIDATE, message)


def _from_outputs(outputs: Mapping[str, Any]) -> list[Structure]:
    found = []
    for kind in Kind:
        value = outputs.get(kind.value)
        if value is not None and value is not False:
            found.append(Structure(kind, _text(kind, value)))
    return found


def _written_anew(schema: str) -> str:
    """JSON text as we write it: what looks for a keyword in it must not be fooled by an escape."""
    try:
        return msgspec.json.encode(msgspec.json.decode(schema)).decode()
    except (msgspec.DecodeError, RecursionError) as error:
        raise rejected(f"the schema is not JSON: {error}") from error


def _from_format(response_format: dict[str, Any]) -> list[Structure]:
    kind = response_format.get("type", "text")
    if kind == "text":
        return []
    if kind == "json_object":
        return [Structure(Kind.JSON_OBJECT, "")]
    wrapper = response_format.get("json_schema")
    if kind != "json_schema" or not isinstance(wrapper, dict) or "schema" not in wrapper:
        raise rejected(
            "$.body.response_format must be text, json_object, or json_schema with json_schema.schema"
        )
    return [Structure(Kind.JSON, _text(Kind.JSON, wrapper["schema"]))]


def _text(kind: Kind, value: Any) -> str:
    if kind is Kind.JSON_OBJECT:
        return ""
    if kind in _TEXTS or (kind is Kind.JSON and isinstance(value, str)):
        if not isinstance(value, str) or not value:
            raise rejected(f"$.body.structured_outputs.{kind} must be a non-empty string")
        return _written_anew(value) if kind is Kind.JSON else value
    if kind is Kind.CHOICE and not (
        value and isinstance(value, list) and all(isinstance(v, str) for v in value)
    ):
        raise rejected("$.body.structured_outputs.choice must be a list of strings")
    return msgspec.json.encode(value).decode()
