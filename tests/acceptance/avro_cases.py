"""Avro: by a schema file, and with a registry that is down at first."""

from __future__ import annotations

import json

from schemas.avro import AvroSchema
from schemas.avro_line import REQUEST_LINE, avro_of_line
from schemas.wire import join_wire
from tests.acceptance.case import INVALID, UNREADABLE, Case, line

PLAIN, WIRE = "headrace.plain", "headrace.wire"
KNOWN_ID, UNKNOWN_ID = 7, 99


def avro(json_line: bytes) -> bytes:
    return avro_of_line(json.loads(json_line), AvroSchema(REQUEST_LINE))


GOOD = avro(line())

CASES = [
    Case("plain Avro", GOOD, topic=PLAIN),
    Case("truncated Avro", GOOD[:-3], UNREADABLE, topic=PLAIN),
    Case("JSON where Avro is expected", line(), UNREADABLE, topic=PLAIN),
    Case("Avro without messages", avro(line(body_messages=[])), INVALID, topic=PLAIN),
    Case("Avro with a registry that was down", join_wire(KNOWN_ID, GOOD), topic=WIRE),
    Case("truncated Avro with a registry", join_wire(KNOWN_ID, GOOD[:-3]), UNREADABLE, topic=WIRE),
    Case("an unknown schema id", join_wire(UNKNOWN_ID, GOOD), UNREADABLE, topic=WIRE),
    Case("a tombstone for Avro", None, UNREADABLE, topic=WIRE),
    Case("no wire format", b"hello", UNREADABLE, topic=WIRE),
]
