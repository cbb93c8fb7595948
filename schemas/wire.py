"""The Confluent wire format: a zero byte, the schema id (four bytes, big-endian), then plain Avro."""

from __future__ import annotations

from typing import Final

from schemas.errors import BadRecord

MAGIC: Final = 0
HEAD_BYTES: Final = 5
#: A registry's ids are Java's integers: of a larger one it says that the path does not exist.
SCHEMA_ID_MAX: Final = 2**31 - 1


def split_wire(value: bytes) -> tuple[int, bytes]:
    """(schema id, Avro bytes); BadRecord (`unreadable`) where the head is missing."""
    if len(value) < HEAD_BYTES or value[0] != MAGIC:
        raise BadRecord.unreadable(
            "not in the Confluent wire format: it starts with a zero byte and a schema id of four bytes"
        )
    schema_id = int.from_bytes(value[1:HEAD_BYTES], "big")
    if schema_id > SCHEMA_ID_MAX:
        raise BadRecord.unreadable(f"schema id {schema_id}: no registry has one above {SCHEMA_ID_MAX}")
    return schema_id, value[HEAD_BYTES:]


def join_wire(schema_id: int, payload: bytes) -> bytes:
    """The opposite: what a producer with a registry writes."""
    return bytes([MAGIC]) + schema_id.to_bytes(4, "big") + payload
