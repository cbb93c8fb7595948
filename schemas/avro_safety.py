"""Avro schemas that a hostile record could use against us are refused before anything is read with them.

- Recursive ones: fastavro's compiled reader recurses without a limit, and a long record overflows the C stack.
- Arrays of items that take no bytes (null, empty records): twelve bytes can claim 2^60 items.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemas.errors import SchemaInvalid

_Named = Mapping[str, Any]


def refuse_unsafe(parsed: Any, named: _Named) -> None:
    """Walk the schema; SchemaInvalid where it is recursive or has arrays of nothing."""
    _walk(parsed, named, ())


def _walk(schema: Any, named: _Named, inside: tuple[str, ...]) -> bool:
    """Whether a value of `schema` may take no bytes at all."""
    if isinstance(schema, list):
        for branch in schema:
            _walk(branch, named, inside)
        return False
    if isinstance(schema, str):
        return _walk_name(schema, named, inside)
    return _walk_type(schema, named, inside)


def _walk_name(name: str, named: _Named, inside: tuple[str, ...]) -> bool:
    if name in inside:
        raise SchemaInvalid(f"the schema is recursive ({name}); request lines are read without recursion")
    return name == "null" or (name in named and _walk(named[name], named, inside))


def _walk_type(schema: Mapping[str, Any], named: _Named, inside: tuple[str, ...]) -> bool:
    match schema["type"]:
        case "record" | "error":
            name = schema["name"]
            if name in inside:
                raise SchemaInvalid(
                    f"the schema is recursive ({name}); request lines are read without recursion"
                )
            # A list first: every field is walked, not only up to the first that takes bytes.
            sizes = [_walk(field["type"], named, (*inside, name)) for field in schema["fields"]]
            return all(sizes)
        case "array":
            if _walk(schema["items"], named, inside):
                raise SchemaInvalid("the schema has an array of items that take no bytes; nothing bounds it")
            return False
        case "map":
            _walk(schema["values"], named, inside)
            return False
        case "fixed":
            return bool(schema["size"] == 0)
        case other:
            return _walk(other, named, inside)
