"""Whatever the bytes: a request, or our own error. Never another exception."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cache.session_key import session_key
from schemas.avro import AvroSchema
from schemas.avro_line import REQUEST_LINE, avro_of_line
from schemas.carry import carry
from schemas.control import NO_CONTROL, read_control
from schemas.dead_letter import DeadLetter, parse_dead_letter, write_dead_letter
from schemas.decode import JSON, REGISTRY, Decoder
from schemas.errors import BadRecord, RegistryUnavailable
from schemas.failure import ErrorClass, Stage
from schemas.headers import Header
from schemas.request import Body, Line, Message, Request
from schemas.routing import lane_of, tenant_of
from schemas.source import Source
from schemas.wire import join_wire
from tests.schemas.lines import as_json, chat

SCHEMA = AvroSchema(REQUEST_LINE)
GOOD_AVRO = avro_of_line(
    chat(max_tokens=5, stop=["a"], metadata={"tenant": "t"}, structured_outputs={"choice": ["a"]}), SCHEMA
)


class FuzzedRegistry:
    """Knows even ids, is down for those that end in 13."""

    def schema(self, schema_id: int) -> AvroSchema:
        if schema_id % 100 == 13:
            raise RegistryUnavailable("down")
        if schema_id % 2:
            raise BadRecord.unreadable("unknown")
        return SCHEMA


DECODER = Decoder(avro=[SCHEMA], registry=FuzzedRegistry())
#: Names that mean something inside a field.
EXTRA = ("type", "text", "json_schema", "schema", "choice", "regex", "json", "tenant", "unknown")
FORMATS = st.sampled_from([JSON, REGISTRY, SCHEMA.format, "avro:none", ""])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["user", "POST", "/v1/chat/completions", "/v1/embeddings", "json_schema", "text", "sim"]),
)
FIELDS = st.sampled_from(
    sorted({*Line.__struct_fields__, *Body.__struct_fields__, *Message.__struct_fields__, *EXTRA})
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=12,
)


def outcome(value: bytes | None, format_: str = JSON) -> Request | str:
    """The request, or the class of our own error; anything else comes out and fails the test."""
    try:
        request = DECODER.decode(value, format_)
        tenant = tenant_of(NO_CONTROL, request.body)
        lane_of(NO_CONTROL, request.body)
        session_key(NO_CONTROL, request.body, None, tenant)
    except RegistryUnavailable:
        return "unavailable"
    except BadRecord as error:
        failure = error.failure
        expected = {ErrorClass.UNREADABLE: Stage.DECODE, ErrorClass.INVALID: Stage.VALIDATE}
        assert expected[failure.error_class] is failure.stage
        assert failure.message
        _can_be_a_dead_letter(value, error)
        return failure.error_class
    return request


def _can_be_a_dead_letter(value: bytes | None, error: BadRecord) -> None:
    letter = DeadLetter(None, value, (), Source("in", 0, 0), 0, "g", error.failure)
    assert parse_dead_letter(*write_dead_letter(letter)).value == value


@given(st.none() | st.binary(max_size=200), FORMATS)
@settings(max_examples=400)
def test_any_bytes(value: bytes | None, format_: str) -> None:
    outcome(value, format_)


@given(TREES)
@settings(max_examples=400)
def test_any_json(tree: Any) -> None:
    outcome(json.dumps(tree).encode(errors="surrogatepass"))


@given(st.dictionaries(FIELDS, TREES, max_size=6), st.dictionaries(FIELDS, TREES, max_size=3))
@settings(max_examples=400)
def test_any_fields_in_a_line(body: dict[str, Any], around: dict[str, Any]) -> None:
    outcome(json.dumps({**chat(**body), **around}).encode(errors="surrogatepass"))


@given(st.dictionaries(FIELDS, TREES, max_size=6))
@example({"temperature": float("nan")})
def test_what_is_no_strict_json_is_unreadable_and_what_is_is_not(body: dict[str, Any]) -> None:
    """The standard library's parser, made strict, is the second opinion."""
    value = json.dumps(chat(unknown=body)).encode()
    assert (outcome(value) == ErrorClass.UNREADABLE) == (not _is_strict_json(value))


def _is_strict_json(value: bytes) -> bool:
    def refuse(token: str) -> None:
        raise ValueError(token)

    try:
        json.dumps(json.loads(value, parse_constant=refuse), ensure_ascii=False).encode()
    except ValueError:
        return False
    return True


EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from(["set", "cut", "put"]), st.binary(min_size=1, max_size=10)),
    min_size=1,
    max_size=4,
)


def edited(value: bytes, edits: list[tuple[float, str, bytes]]) -> bytes:
    changed = bytearray(value)
    for where, how, content in edits:
        at = int(where * len(changed))
        width = 0 if how == "put" else len(content)
        changed[at : at + width] = b"" if how == "cut" else content
    return bytes(changed)


@given(EDITS)
@settings(max_examples=400)
def test_damaged_json(edits: list[tuple[float, str, bytes]]) -> None:
    outcome(edited(as_json(chat(max_tokens=5, stop=["a"], response_format={"type": "text"})), edits))


@given(EDITS)
@settings(max_examples=400)
def test_damaged_avro(edits: list[tuple[float, str, bytes]]) -> None:
    outcome(edited(GOOD_AVRO, edits), SCHEMA.format)


@given(EDITS, st.integers(0, 2**32 - 1))
def test_damaged_wire_format(edits: list[tuple[float, str, bytes]], schema_id: int) -> None:
    outcome(edited(join_wire(schema_id, GOOD_AVRO), edits), REGISTRY)


CONTROL_NAMES = st.sampled_from(
    ["session", "tenant", "lane", "deadline-ms", "reply-to", "errors", "order", "source", "replay", "in.lane"]
).map("headrace-{}".format)
VALUES = (
    st.none() | st.binary(max_size=12) | st.sampled_from([b"batch", b"17", b"a:3", b"result", b"\xc3\xa9"])
)


@given(st.lists(st.tuples(CONTROL_NAMES | st.text(max_size=5), VALUES), max_size=8), st.none() | st.binary())
@settings(max_examples=400)
def test_any_headers(headers: list[Header], key: bytes | None) -> None:
    carried = carry(headers)
    with suppress(BadRecord):
        assert read_control(headers, key).carried == carried
