"""Bytes of an input record -> a validated request. Nothing leaves here but Request, BadRecord and RegistryUnavailable."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schemas.avro import AvroSchema
from schemas.avro_line import request_of_avro
from schemas.errors import BadRecord
from schemas.json_line import request_of_json
from schemas.registry import SchemaSource
from schemas.request import Request
from schemas.wire import split_wire

#: Values of the header `headrace-format`; a plain Avro format is `avro:<schema fingerprint>`.
JSON: Final = "json"
REGISTRY: Final = "registry"

VALUE_BYTES_MAX: Final = 16 * 1024 * 1024


class Decoder:
    """Reads the formats of one installation.

    `avro` are the schemas of the configuration, found by their `format`; `registry` serves the Confluent wire format.
    """

    def __init__(
        self,
        *,
        avro: Iterable[AvroSchema] = (),
        registry: SchemaSource | None = None,
        value_bytes_max: int = VALUE_BYTES_MAX,
    ) -> None:
        self._avro = {schema.format: schema for schema in avro}
        self._registry = registry
        self._value_bytes_max = value_bytes_max

    def decode(
        self,
        value: bytes | None,
        format: str = JSON,  # noqa: A002 - the header's own name
        refuse_unknown: bool = False,
    ) -> Request:
        """The request in `value`; fields that nobody knows are named in it, or refused.

        Raises BadRecord (`unreadable` at decode, `invalid` at validate), or RegistryUnavailable: try this record again.
        """
        if not value:
            raise _nothing(value)
        if len(value) > self._value_bytes_max:
            raise BadRecord.unreadable(
                f"value of {len(value)} bytes is too large; at most {self._value_bytes_max} bytes are read"
            )
        if format == JSON:
            return request_of_json(value, refuse_unknown)
        if format == REGISTRY:
            schema, payload = self._from_registry(value)
            return request_of_avro(payload, schema, refuse_unknown)
        return request_of_avro(value, self._from_settings(format), refuse_unknown)

    def _from_registry(self, value: bytes) -> tuple[AvroSchema, bytes]:
        schema_id, payload = split_wire(value)
        if self._registry is None:
            raise BadRecord.unreadable(
                "the record needs a schema registry, and none is configured; set registry.url"
            )
        return self._registry.schema(schema_id), payload

    def _from_settings(self, format: str) -> AvroSchema:  # noqa: A002
        schema = self._avro.get(format)
        if schema is None:
            known = ", ".join([JSON, REGISTRY, *self._avro])
            raise BadRecord.unreadable(f"format {format!r} is not configured here; known formats: {known}")
        return schema


def _nothing(value: bytes | None) -> BadRecord:
    if value is None:
        return BadRecord.unreadable("the value is null (a tombstone); a request line is needed")
    return BadRecord.unreadable("the value is empty; a request line is needed")
