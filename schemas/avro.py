"""Plain Avro by fastavro: schemas that are safe to read with, and bytes to values and back."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import fastavro
import fastavro.schema

from schemas.avro_safety import refuse_unsafe
from schemas.errors import BadRecord, SchemaInvalid
from schemas.json_text import DEPTH_MAX, deeper_than

#: The standard's own short fingerprint (Avro specification, "Schema Fingerprints").
FINGERPRINT: Final = "CRC-64-AVRO"


class AvroSchema:
    """A parsed writer's schema. `format` is its value of the header `headrace-format`."""

    def __init__(self, text: str, references: Sequence[str] = ()) -> None:
        """`references`: texts of named schemas that `text` uses, each after those it uses itself.

        Raises SchemaInvalid.
        """
        named: dict[str, Any] = {}
        for reference in references:
            _parse(reference, named)
        self._parsed = _parse(text, named)
        try:
            refuse_unsafe(self._parsed, named)
        except RecursionError as error:
            raise SchemaInvalid("the schema nests too deeply when its names are followed") from error
        self.format = f"avro:{_fingerprint(self._parsed)}"

    def read(self, payload: bytes) -> Any:
        """The one value in `payload`; BadRecord (`unreadable`) where there is none, or more."""
        stream = io.BytesIO(payload)
        try:
            value = fastavro.schemaless_reader(stream, self._parsed, None)
        # fastavro has no error tree: bytes that do not fit raise a dozen builtin kinds.
        except Exception as error:
            why = _why_not_avro(error, stream.tell(), len(payload))
            raise BadRecord.unreadable(f"not Avro of schema {self.format}: {why}") from error
        left = len(payload) - stream.tell()
        if left:
            raise BadRecord.unreadable(f"{left} bytes are left over after the Avro value; right is one value")
        return value

    def write(self, value: Mapping[str, Any]) -> bytes:
        """`value` as plain Avro."""
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, self._parsed, value)
        return stream.getvalue()


def _parse(text: str, named: dict[str, Any]) -> Any:
    if deeper_than(text.encode(errors="replace"), DEPTH_MAX):
        raise SchemaInvalid(f"the schema nests deeper than {DEPTH_MAX} levels")
    try:
        return fastavro.parse_schema(_without_logical_types(json.loads(text)), named_schemas=named)
    # ValueError for JSON; fastavro adds kinds of its own without a common root, and KeyError, TypeError.
    except Exception as error:
        raise SchemaInvalid(f"not an Avro schema: {type(error).__name__} {error}") from error


def _without_logical_types(schema: Any) -> Any:
    """Values are read as they lie: a request has no use for dates, and a decimal of a megabyte takes minutes to make."""
    if isinstance(schema, list):
        return [_without_logical_types(each) for each in schema]
    if isinstance(schema, dict):
        return {name: _without_logical_types(each) for name, each in schema.items() if name != "logicalType"}
    return schema


def _why_not_avro(error: Exception, place: int, size: int) -> str:
    """In words; what fastavro says is a builtin error's, and often nothing."""
    if isinstance(error, EOFError):
        return f"it ends in the middle of a value (after byte {size})"
    if isinstance(error, IndexError):
        return f"no such branch of a union, or symbol of an enum (before byte {place})"
    return f"{error or type(error).__name__} (before byte {place})"


def _fingerprint(parsed: Any) -> str:
    try:
        canonical = fastavro.schema.to_parsing_canonical_form(parsed)
        return str(fastavro.schema.fingerprint(canonical, FINGERPRINT))
    # Names that JSON can hold and UTF-8 cannot; what else fastavro raises here it does not say.
    except Exception as error:
        raise SchemaInvalid(f"not an Avro schema: {type(error).__name__} {error}") from error
