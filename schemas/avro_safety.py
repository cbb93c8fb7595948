"""Avro schemas that a hostile record could use against us are refused before anything is read with them.

- Recursive or very deep ones: fastavro's compiled reader recurses without a limit, and a long record overflows the C
  stack.
- Arrays of items that take no bytes (null, empty records): twelve bytes can claim 2^60 items.
- Ones that grow when their names are followed: sixty records of two fields each can stand for 2^60 values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from schemas.errors import SchemaInvalid
from schemas.json_text import DEPTH_MAX

#: Types met on the way, names followed; a request line needs some fifty.
TYPES_MAX: Final = 10_000


def refuse_unsafe(parsed: Any, named: Mapping[str, Any]) -> None:
    """Walk the schema; SchemaInvalid where it is recursive, too deep, too large or has arrays of nothing."""
    _Walk(named).may_be_empty(parsed, ())


class _Walk:
    """One walk over a schema, every name followed."""

    def __init__(self, named: Mapping[str, Any]) -> None:
        self._named = named
        self._types_left = TYPES_MAX

    def may_be_empty(self, schema: Any, inside: tuple[str, ...]) -> bool:
        """Whether a value of `schema` may take no bytes at all. `inside`: the records around it."""
        self._types_left -= 1
        if self._types_left < 0:
            raise SchemaInvalid(
                f"the schema grows to more than {TYPES_MAX} types when its names are followed"
            )
        if isinstance(schema, list):
            for branch in schema:
                self.may_be_empty(branch, inside)
            return False
        if isinstance(schema, str):
            return schema == "null" or self._named_may_be_empty(schema, inside)
        return self._type_may_be_empty(schema, inside)

    def _named_may_be_empty(self, name: str, inside: tuple[str, ...]) -> bool:
        return name in self._named and self.may_be_empty(self._named[name], inside)

    def _type_may_be_empty(self, schema: Mapping[str, Any], inside: tuple[str, ...]) -> bool:
        match schema["type"]:
            case "record" | "error":
                return self._record_may_be_empty(schema, inside)
            case "array":
                if self.may_be_empty(schema["items"], inside):
                    raise SchemaInvalid(
                        "the schema has an array of items that take no bytes; nothing bounds it"
                    )
                return False
            case "map":
                self.may_be_empty(schema["values"], inside)
                return False
            case "fixed":
                return bool(schema["size"] == 0)
            case other:
                return self.may_be_empty(other, inside)

    def _record_may_be_empty(self, schema: Mapping[str, Any], inside: tuple[str, ...]) -> bool:
        name = schema["name"]
        if name in inside:
            raise SchemaInvalid(f"the schema is recursive ({name}); request lines are read without recursion")
        if len(inside) >= DEPTH_MAX:
            raise SchemaInvalid(f"the schema nests deeper than {DEPTH_MAX} records")
        # A list first: every field is walked, not only up to the first that takes bytes.
        sizes = [self.may_be_empty(field["type"], (*inside, name)) for field in schema["fields"]]
        return all(sizes)
