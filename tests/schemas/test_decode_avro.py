"""Avro, plain and with a registry: what does not fit its schema is `unreadable`, what is wrong in it `invalid`."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from schemas.avro import AvroSchema
from schemas.avro_line import REQUEST_LINE, avro_of_line
from schemas.bodies import ChatBody
from schemas.decode import REGISTRY, Decoder
from schemas.errors import BadRecord, RegistryUnavailable, SchemaInvalid
from schemas.failure import ErrorClass, Stage
from schemas.request import Body, Message, Request, Task
from schemas.wire import join_wire
from tests.schemas.lines import CHAT_URL, chat

SCHEMA = AvroSchema(REQUEST_LINE)
DECODER = Decoder(avro=[SCHEMA])
GOOD = avro_of_line(chat(max_tokens=5), SCHEMA)


class OneSchema:
    """A registry that knows id 7 only, and is down for id 13."""

    def schema(self, schema_id: int) -> AvroSchema:
        if schema_id == 13:
            raise RegistryUnavailable("down")
        if schema_id != 7:
            raise BadRecord.unreadable("unknown id")
        return SCHEMA


WITH_REGISTRY = Decoder(registry=OneSchema())


def failure_of(
    value: bytes | None, format_: str = SCHEMA.format, decoder: Decoder = DECODER
) -> tuple[str, ...]:
    with pytest.raises(BadRecord) as caught:
        decoder.decode(value, format_)
    failure = caught.value.failure
    return failure.error_class, failure.stage, failure.message


def test_an_avro_line_becomes_the_same_request_as_json() -> None:
    expected = Request(Task.CHAT, Body("sim", [Message("user", "Hello")], max_tokens=5), "r-1")
    assert DECODER.decode(GOOD, SCHEMA.format) == expected
    assert WITH_REGISTRY.decode(join_wire(7, GOOD), REGISTRY) == expected


@pytest.mark.parametrize("cut", range(len(GOOD)))
def test_truncated_avro_is_unreadable(cut: int) -> None:
    assert failure_of(GOOD[:cut])[:2] == (ErrorClass.UNREADABLE, Stage.DECODE)


def test_what_is_wrong_with_avro_is_told_in_words() -> None:
    ends_early, no_branch = failure_of(GOOD[:-3])[2], failure_of(json.dumps(chat()).encode())[2]
    assert ends_early.endswith(f"it ends in the middle of a value (after byte {len(GOOD) - 3})")
    assert "no such branch of a union" in no_branch


def test_bytes_after_the_value_are_unreadable() -> None:
    assert failure_of(GOOD + b"\0")[::2] == (
        ErrorClass.UNREADABLE,
        "1 bytes are left over after the Avro value; right is one value",
    )


def test_logical_types_are_read_as_they_lie() -> None:
    text = (
        '{"type": "record", "name": "L", "fields": [{"name": "custom_id", "type": {"type": "string", "logicalType": "uuid"}},'
        ' {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}}]}'
    )
    schema = AvroSchema(text)
    value = {"custom_id": "018f3c1e-0000-7000-8000-000000000000", "price": b"\x7f" * 1_000_000}
    assert schema.read(schema.write(value)) == value
    assert schema.format == AvroSchema(text.replace(', "logicalType": "uuid"', "")).format


def test_a_name_that_is_not_utf8_makes_no_schema() -> None:
    with pytest.raises(SchemaInvalid, match="not an Avro schema"):
        AvroSchema('{"type": "record", "name": "\\ud800", "fields": []}')


def test_a_schema_id_that_no_registry_has_is_unreadable_and_nobody_is_asked() -> None:
    assert failure_of(join_wire(2**31, GOOD), REGISTRY, Decoder(registry=None))[:2] == (
        ErrorClass.UNREADABLE,
        Stage.DECODE,
    )


def test_a_tombstone_and_an_empty_value_are_unreadable() -> None:
    for value in (None, b""):
        assert failure_of(value)[0] == ErrorClass.UNREADABLE


def test_json_under_an_avro_format_is_unreadable() -> None:
    assert failure_of(json.dumps(chat()).encode())[0] == ErrorClass.UNREADABLE


def test_a_format_that_is_not_configured_is_unreadable_and_the_known_ones_are_named() -> None:
    error_class, _, message = failure_of(GOOD, "avro:0000")
    assert error_class == ErrorClass.UNREADABLE
    assert SCHEMA.format in message


@pytest.mark.parametrize("value", [GOOD, b"\0", b"\0\0\0\0", b"\1\0\0\0\7" + GOOD])
def test_a_value_without_the_wire_formats_head_is_unreadable(value: bytes) -> None:
    error_class, _, message = failure_of(value, REGISTRY, WITH_REGISTRY)
    assert error_class == ErrorClass.UNREADABLE
    assert "Confluent wire format" in message


def test_an_unknown_schema_id_is_unreadable_and_a_registry_that_is_down_waits() -> None:
    assert failure_of(join_wire(8, GOOD), REGISTRY, WITH_REGISTRY)[0] == ErrorClass.UNREADABLE
    with pytest.raises(RegistryUnavailable):
        WITH_REGISTRY.decode(join_wire(13, GOOD), REGISTRY)


def test_without_a_registry_the_record_says_what_to_configure() -> None:
    assert "set registry.url" in failure_of(join_wire(7, GOOD), REGISTRY)[2]


INVALID: dict[str, tuple[dict[str, Any], str]] = {
    "max_tokens 2^63 - 1": (chat(max_tokens=2**63 - 1), "$.body.max_tokens: expected int <= 2147483647"),
    "max_tokens 0": (chat(max_tokens=0), "$.body.max_tokens: expected int >= 1"),
    "temperature NaN": (chat(temperature=math.nan), "$.body.temperature: "),
    "temperature infinite": (chat(temperature=math.inf), "$.body.temperature: "),
    "empty messages": (chat(messages=[]), "$.body.messages: expected array of length >= 1"),
    "no messages": (chat(messages=None), "$.body.messages: missing"),
    "unknown role": (chat(messages=[{"role": "x"}]), "$.body.messages[0].role: "),
    "unknown url": ({**chat(), "url": "/v2"}, "$.url: "),
    "a format that is no JSON": (chat(response_format="{flub"), "$.body.response_format: not JSON text"),
    "a format too deep": (chat(response_format="[" * 100), "$.body.response_format: nested too deep"),
    "a format that is no object": (chat(response_format="[1]"), "$.body.response_format: "),
    "two kinds": (
        chat(structured_outputs={"choice": ["a"], "regex": "a"}),
        "$.body.structured_outputs: choice, regex",
    ),
}


@pytest.mark.parametrize("name", INVALID)
def test_it_is_invalid(name: str) -> None:
    line, message = INVALID[name]
    error_class, stage, text = failure_of(avro_of_line(line, SCHEMA))
    assert (error_class, stage) == (ErrorClass.INVALID, Stage.VALIDATE)
    assert text.startswith(message)


def test_structures_travel_as_json_text() -> None:
    line = chat(structured_outputs={"choice": ["a", "b"]}, response_format={"type": "text"})
    body = DECODER.decode(avro_of_line(line, SCHEMA), SCHEMA.format).body
    assert body.structured_outputs == {"choice": ["a", "b"]}
    assert body.response_format == {"type": "text"}


def own_schema(**body: Any) -> AvroSchema:
    """A writer's own schema with one more field in the body."""
    fields = [
        {"name": "model", "type": "string"},
        {
            "name": "messages",
            "type": {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "M",
                    "fields": [{"name": n, "type": "string"} for n in ("role", "content")],
                },
            },
        },
        *({"name": name, "type": type_} for name, type_ in body.items()),
    ]
    record = {"type": "record", "name": "B", "fields": fields}
    line = {
        "type": "record",
        "name": "L",
        "fields": [{"name": "url", "type": "string"}, {"name": "body", "type": record}],
    }
    return AvroSchema(json.dumps(line))


def decode_own(schema: AvroSchema, **body: Any) -> Request:
    line = {"url": CHAT_URL, "body": {**chat()["body"], **body}}
    return Decoder(avro=[schema]).decode(schema.write(line), schema.format)


def test_a_writers_own_schema_with_unknown_fields_is_read() -> None:
    request = decode_own(own_schema(extra={"type": "map", "values": "bytes"}), extra={"a": b"\xff"})
    body = Body("sim", [Message("user", "Hello")])
    assert request == Request(Task.CHAT, body, ignored=("$.body.extra",), ignored_count=1)


def test_null_in_an_unknown_field_is_absent_since_a_record_has_every_field() -> None:
    inner = {"type": "record", "name": "F", "fields": [_text("name"), _nullable("x")]}
    tool = {"type": "record", "name": "T", "fields": [_text("type"), {"name": "function", "type": inner}]}
    schema = own_schema(
        extra=["null", "string"], user=["null", "string"], tools={"type": "array", "items": tool}
    )
    tools = [{"type": "function", "function": {"name": "look", "x": None}}]
    request = decode_own(schema, extra=None, user=None, tools=tools)
    assert request.ignored_count == 0
    assert isinstance(request.body, ChatBody)
    assert request.body.tools == [{"type": "function", "function": {"name": "look"}}]
    said = decode_own(schema, extra="e", user="u", tools=tools)
    assert set(said.ignored) == {"$.body.extra", "$.body.user"}


def test_what_is_refused_in_json_is_refused_in_avro() -> None:
    with pytest.raises(BadRecord, match=r"\$\.body\.chat_template: not taken; it is a program"):
        decode_own(own_schema(chat_template="string"), chat_template="x")
    schema = own_schema(max_token="int")
    line = {"url": CHAT_URL, "body": {**chat()["body"], "max_token": 5}}
    with pytest.raises(BadRecord, match='nearest is "max_tokens"'):
        Decoder(avro=[schema]).decode(schema.write(line), schema.format, refuse_unknown=True)


def _text(name: str) -> dict[str, Any]:
    return {"name": name, "type": "string"}


def _nullable(name: str) -> dict[str, Any]:
    return {"name": name, "type": ["null", "string"]}


def test_a_structure_as_an_avro_map_is_read_when_json_can_say_it() -> None:
    schema = own_schema(response_format={"type": "map", "values": "string"})
    assert decode_own(schema, response_format={"type": "text"}).body.response_format == {"type": "text"}
    with pytest.raises(BadRecord, match="holds bytes, dates or NaN"):
        decode_own(
            own_schema(response_format={"type": "map", "values": "double"}), response_format={"a": math.nan}
        )
    with pytest.raises(BadRecord, match="holds bytes, dates or NaN"):
        decode_own(
            own_schema(response_format={"type": "map", "values": "bytes"}), response_format={"a": b"x"}
        )


def test_a_known_field_of_another_type_is_invalid() -> None:
    with pytest.raises(BadRecord, match=r"\$\.body\.max_tokens: expected int.*got str"):
        decode_own(own_schema(max_tokens="string"), max_tokens="many")
    with pytest.raises(BadRecord, match=r"\$\.body\.max_tokens: expected int.*got bytes"):
        decode_own(own_schema(max_tokens="bytes"), max_tokens=b"1")


def test_a_value_that_is_no_record_is_unreadable() -> None:
    schema = AvroSchema('"string"')
    with pytest.raises(BadRecord, match="not a record"):
        Decoder(avro=[schema]).decode(schema.write("x"), schema.format)  # type: ignore[arg-type]


def test_the_format_is_the_standards_fingerprint() -> None:
    # Avro specification: the CRC-64-AVRO of "int" is 7275d51a3f395c8f; written as its bytes stand in a record's head.
    assert AvroSchema('"int"').format == "avro:8f5c393f1ad57572"
    assert AvroSchema('{"type": "int"}').format == AvroSchema('"int"').format
