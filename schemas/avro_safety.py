"""Avro schemas that a hostile record could use against us are refused before anything is read with them.

- Recursive or very deep ones: fastavro's compiled reader recurses without a limit, and a long record overflows the C
  stack.
- Arrays of items that take no bytes (null, empty records): twelve bytes can claim 2^60 items.
- Arrays and maps whose members have many fields of nothing: one byte then stands for thousands of values.
- Ones that grow when their names are followed: sixty records of two fields each can stand for 2^60 values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from schemas.errors import SchemaInvalid
from schemas.json_text import DEPTH_MAX

#: Types met on the way, names followed; a request line needs some fifty.
TYPES_MAX: Final = 10_000
#: Fields that take no bytes, in one member of an array or map.
NOTHINGS_MAX: Final = 64


def refuse_unsafe(parsed: Any, named: Mapping[str, Any]) -> None:
    """Walk the schema; SchemaInvalid where it is recursive, too deep, too large or has arrays of nothing."""
    _Walk(named).size(parsed, ())


class _Size(NamedTuple):
    """What a value of a type may take."""

    #: No bytes at all.
    empty: bool
    #: Fields that take no bytes and are made all the same, each time.
    nothings: int


class _Walk:
    """One walk over a schema, every name followed."""

    def __init__(self, named: Mapping[str, Any]) -> None:
        self._named = named
        self._types_left = TYPES_MAX

    def size(self, schema: Any, inside: tuple[str, ...]) -> _Size:
        """Of a value of `schema`. `inside`: the records around it."""
        self._types_left -= 1
        if self._types_left < 0:
            raise SchemaInvalid(
                f"the schema grows to more than {TYPES_MAX} types when its names are followed"
            )
        if isinstance(schema, list):
            return _Size(False, max((self.size(branch, inside).nothings for branch in schema), default=0))
        if isinstance(schema, str):
            return self._size_of_name(schema, inside)
        return self._size_of_type(schema, inside)

    def _size_of_name(self, name: str, inside: tuple[str, ...]) -> _Size:
        return self.size(self._named[name], inside) if name in self._named else _Size(name == "null", 0)

    def _size_of_type(self, schema: Mapping[str, Any], inside: tuple[str, ...]) -> _Size:
        match schema["type"]:
            case "record" | "error":
                return self._size_of_record(schema, inside)
            case "array":
                if self._member(schema["items"], inside).empty:
                    raise SchemaInvalid(
                        "the schema has an array of items that take no bytes; nothing bounds it"
                    )
                return _Size(False, 0)
            case "map":
                self._member(schema["values"], inside)
                return _Size(False, 0)
            case "fixed":
                return _Size(schema["size"] == 0, 0)
            case other:
                return self.size(other, inside)

    def _member(self, schema: Any, inside: tuple[str, ...]) -> _Size:
        """Of one of many."""
        size = self.size(schema, inside)
        if size.nothings > NOTHINGS_MAX:
            raise SchemaInvalid(
                f"the schema has an array or map whose members have more than {NOTHINGS_MAX} fields that take no bytes"
            )
        return size

    def _size_of_record(self, schema: Mapping[str, Any], inside: tuple[str, ...]) -> _Size:
        name = schema["name"]
        if name in inside:
            raise SchemaInvalid(f"the schema is recursive ({name}); request lines are read without recursion")
        if len(inside) >= DEPTH_MAX:
            raise SchemaInvalid(f"the schema nests deeper than {DEPTH_MAX} records")
        sizes = [self.size(field["type"], (*inside, name)) for field in schema["fields"]]
        return _Size(all(size.empty for size in sizes), sum(size.nothings + size.empty for size in sizes))
