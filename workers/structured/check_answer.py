"""Whether an answer meets the JSON schema that it was asked to meet."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import jsonschema
import msgspec
from referencing import Registry
from referencing.exceptions import Unresolvable

from workers.structured.structure import Kind, Structure, rejected

PATH_CHARS_MAX: Final = 200
MESSAGE_CHARS_MAX: Final = 500
_LATEST = jsonschema.Draft202012Validator
_DRAFTS = {
    str(draft.META_SCHEMA.get("$id", draft.META_SCHEMA.get("id"))).rstrip("#"): draft
    for draft in (
        jsonschema.Draft4Validator,
        jsonschema.Draft6Validator,
        jsonschema.Draft7Validator,
        jsonschema.Draft201909Validator,
        _LATEST,
    )
}


def check_schema(structure: Structure) -> None:
    """RequestRejected(invalid) where the schema of a JSON structure is not one."""
    if structure.kind is Kind.JSON:
        _validator(structure.text)


def fault_of(structure: Structure, text: str) -> str | None:
    """What is wrong with `text` as an answer to `structure`; None where nothing is.

    Regexes and grammars are left to the engine, which cannot sample anything else.
    """
    if structure.kind is Kind.CHOICE:
        return None if text in structure.choices else "the answer is none of the choices"
    if structure.kind not in (Kind.JSON, Kind.JSON_OBJECT):
        return None
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        return f"the answer is not JSON: {error}"
    if structure.kind is Kind.JSON_OBJECT:
        return None if isinstance(value, dict) else "the answer is not a JSON object"
    return _schema_fault(_validator(structure.text), value)


def _schema_fault(validator: Any, value: Any) -> str | None:
    try:
        error = next(validator.iter_errors(value), None)
    except RecursionError:
        return "the schema refers to itself without end"
    except Unresolvable as unresolvable:
        raise rejected(f"the schema refers to what is not in it: {unresolvable.ref}") from unresolvable
    except Exception as wrong:  # a reference may lead to what is no schema, and that fails in many ways
        raise rejected(f"the schema cannot be applied: {type(wrong).__name__}: {wrong}"[:1_000]) from wrong
    return None if error is None else f"the answer breaks its schema at {_place(error)}"


def _place(error: Any) -> str:
    """Cut: names and values are the answer's, of any length."""
    return f"{error.json_path[:PATH_CHARS_MAX]}: {error.message[:MESSAGE_CHARS_MAX]}"


@lru_cache(maxsize=256)
def _validator(text: str) -> Any:
    """No reference leaves the schema: the registry is empty, nothing is ever fetched."""
    schema = _decoded(text)
    kind = draft_of(schema)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise rejected(f"the schema is not a JSON schema, at {_place(error)}") from error
    except RecursionError as error:
        raise rejected("the schema is nested too deeply") from error
    return kind(schema, registry=Registry())


def draft_of(schema: Any) -> Any:
    """The validator class that `$schema` names; 2020-12 where it names none that we know."""
    named = schema.get("$schema") if isinstance(schema, dict) else None
    return _DRAFTS.get(named.rstrip("#"), _LATEST) if isinstance(named, str) else _LATEST


def _decoded(text: str) -> Any:
    try:
        schema = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise rejected(f"the schema is not JSON: {error}") from error
    if not isinstance(schema, (dict, bool)):
        raise rejected("a JSON schema is an object, or true or false")
    return schema
