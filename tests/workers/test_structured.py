"""Structures: which one is asked for, whether an answer meets it, what the engine is given of it."""

from __future__ import annotations

import json
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.failure import ErrorClass
from tests.workers.stage import chat, engine_call, simulated
from workers.engines.sample import sample
from workers.errors import InvalidOutput, RequestRejected
from workers.structured.check_answer import check_schema, fault_of
from workers.structured.effort import IN_PLACE_CHARS_MAX, STEPS_MAX, is_quick
from workers.structured.relax import relaxed
from workers.structured.structure import Kind, Structure, structure_of


def json_structure(schema: Any) -> Structure:
    return Structure(Kind.JSON, json.dumps(schema))


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({}, None),
        ({"response_format": {"type": "text"}}, None),
        ({"response_format": {"type": "json_object"}}, Kind.JSON_OBJECT),
        ({"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}}, Kind.JSON),
        ({"structured_outputs": {"json": {"type": "object"}}}, Kind.JSON),
        ({"structured_outputs": {"json": '{"type": "object"}'}}, Kind.JSON),
        ({"structured_outputs": {"json_object": True}}, Kind.JSON_OBJECT),
        ({"structured_outputs": {"regex": "a+"}}, Kind.REGEX),
        ({"structured_outputs": {"choice": ["a"]}}, Kind.CHOICE),
        ({"structured_outputs": {"grammar": 'root ::= "a"'}}, Kind.GRAMMAR),
    ],
)
def test_a_structure_is_read_from_either_place(fields: dict[str, Any], kind: Kind | None) -> None:
    structure = structure_of(chat(**fields).body)
    assert (structure and structure.kind) == kind


@pytest.mark.parametrize(
    "fields",
    [
        {"structured_outputs": {"regex": "a", "choice": ["a"]}},
        {"structured_outputs": {"regex": "a"}, "response_format": {"type": "json_object"}},
        {"structured_outputs": {"regex": ""}},
        {"structured_outputs": {"grammar": 7}},
        {"structured_outputs": {"choice": []}},
        {"structured_outputs": {"choice": [1]}},
        {"response_format": {"type": "json_schema"}},
        {"response_format": {"type": "yaml"}},
    ],
)
def test_an_unclear_structure_is_invalid(fields: dict[str, Any]) -> None:
    with pytest.raises(RequestRejected) as caught:
        structure_of(chat(**fields).body)
    assert caught.value.failure.error_class is ErrorClass.INVALID


@pytest.mark.parametrize("schema", [{"type": 12}, {"required": "a"}, 7, [], {"minLength": -1}])
def test_a_schema_that_is_none_is_invalid(schema: Any) -> None:
    with pytest.raises(RequestRejected) as caught:
        check_schema(json_structure(schema))
    assert caught.value.failure.error_class is ErrorClass.INVALID


def test_schema_text_that_is_not_json_is_invalid() -> None:
    with pytest.raises(RequestRejected, match="not JSON"):
        check_schema(Structure(Kind.JSON, "{"))


def test_faults_of_answers_say_where_and_what() -> None:
    structure = json_structure({"type": "object", "properties": {"a": {"type": "integer"}}})
    assert fault_of(structure, '{"a": 1}') is None
    assert "$.a" in str(fault_of(structure, '{"a": "x"}'))
    assert "not JSON" in str(fault_of(structure, '{"a": '))
    assert fault_of(Structure(Kind.JSON_OBJECT, ""), "{}") is None
    assert "not a JSON object" in str(fault_of(Structure(Kind.JSON_OBJECT, ""), "[]"))
    choice = Structure(Kind.CHOICE, '["yes"]')
    assert fault_of(choice, "yes") is None
    assert "none of the choices" in str(fault_of(choice, "maybe"))


def test_nothing_outside_the_schema_is_fetched() -> None:
    with pytest.raises(RequestRejected, match="not in it"):
        fault_of(json_structure({"$ref": "http://example.invalid/schema"}), "{}")


def test_a_schema_that_refers_to_itself_without_end_is_a_fault_and_no_crash() -> None:
    assert "without end" in str(fault_of(json_structure({"$ref": "#"}), "{}"))


def doubling(times: int) -> dict[str, Any]:
    """A schema of which each definition applies the one before it twice."""
    levels = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n - 1}"}] * 2} for n in range(1, times + 1)}
    return {"$defs": {"a0": {"type": "string"}, **levels}, "$ref": f"#/$defs/a{times}"}


POINT = {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}}


@pytest.mark.parametrize(
    ("schema", "quick"),
    [
        ({"type": "string"}, True),
        (True, True),
        (
            {
                "$defs": {"p": POINT},
                "properties": {"from": {"$ref": "#/$defs/p"}, "to": {"$ref": "#/$defs/p"}},
            },
            True,
        ),
        ({"properties": {"id": {"type": "string"}}}, True),
        (doubling(3), True),
        (doubling(40), False),
        ({"$ref": "#"}, False),
        ({"$ref": "#/nowhere"}, False),
        ({"$ref": "http://example.invalid/schema"}, False),
        ({"$defs": {"a": {"$anchor": "x"}}, "$ref": "#x"}, False),
        ({"type": "string", "pattern": "a+"}, False),
        ({"patternProperties": {"a": {}}}, False),
        ({"type": "array", "uniqueItems": True}, False),
        ({"unevaluatedProperties": False}, False),
        ({"enum": ["x" * IN_PLACE_CHARS_MAX]}, False),
        ({"enum": ["red", "green", "blue"]}, True),
        ({"$defs": {"e": {"enum": [*range(2_000)]}}, "anyOf": [{"$ref": "#/$defs/e"}] * 250}, False),
        ({"$defs": {"c": {"const": "x" * 9_000}}, "anyOf": [{"$ref": "#/$defs/c"}] * 250}, False),
    ],
)
def test_what_is_judged_in_place_is_quick_for_sure(schema: Any, quick: bool) -> None:
    assert is_quick(json_structure(schema), 100) is quick
    assert not is_quick(json_structure(schema), STEPS_MAX + 1)


def test_a_keyword_cannot_be_hidden_by_an_escape() -> None:
    hidden = r'{"type": "string", "\u0070attern": "^(a+)+$"}'
    structure = structure_of(chat(structured_outputs={"json": hidden}).body)
    assert structure is not None
    assert not is_quick(structure, 1)


def test_json_text_that_is_none_is_refused() -> None:
    with pytest.raises(RequestRejected, match="the schema is not JSON"):
        structure_of(chat(structured_outputs={"json": "{"}).body)


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a": tru'])
@pytest.mark.parametrize("structure", [json_structure({}), Structure(Kind.JSON_OBJECT, "")])
def test_an_answer_that_is_not_json_has_a_fault(structure: Structure, text: str) -> None:
    assert str(fault_of(structure, text)).startswith("the answer is not JSON")


@pytest.mark.parametrize("schema", [{"type": "string"}, {"additionalProperties": False}])
def test_what_an_answer_is_told_is_bounded(schema: Any) -> None:
    assert len(str(fault_of(json_structure(schema), json.dumps({"中" * 50_000: 1})))) < 1_000


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "minItems": 10**12, "items": {"type": "array", "minItems": 10**12}},
        {"type": "array", "minItems": 10**6, "items": {"type": "string", "minLength": 10**12}},
        {"type": "object", "properties": {name: {"$ref": "#"} for name in "abcdefghij"}},
    ],
)
def test_a_sample_is_bounded(schema: Any) -> None:
    assert len(json.dumps(sample(schema))) < 1_000_000


@pytest.mark.parametrize(
    ("schema", "weaker"),
    [
        ({"type": "array", "uniqueItems": True}, {"type": "array"}),
        ({"type": "integer", "multipleOf": 3}, {"type": "integer"}),
        ({"type": "string", "format": "color"}, {"type": "string"}),
        ({"type": "string", "pattern": "a", "maxLength": 3}, {"type": "string", "pattern": "a"}),
        ({"allOf": [{"type": "string"}, {"enum": ["a"]}]}, {"allOf": [{"type": "string"}]}),
        (
            {"properties": {"contains": {"type": "array", "contains": {}}}, "patternProperties": {"a": {}}},
            {"properties": {"contains": {"type": "array"}}},
        ),
        ({"enum": [{"uniqueItems": 1}]}, {"enum": [{"uniqueItems": 1}]}),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
    ],
)
def test_the_engine_is_given_what_its_compiler_knows(schema: Any, weaker: Any) -> None:
    assert json.loads(relaxed(json.dumps(schema))) == weaker


KEYWORDS = [
    "type",
    "items",
    "properties",
    "allOf",
    "$ref",
    "$schema",
    "enum",
    "pattern",
    "format",
    "required",
    "$defs",
    "x",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["string", "object", "#", "a+", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.sampled_from(['{"a": [1]}', "[]", "1", '"x"', "{"]))
def test_no_schema_and_no_answer_leads_to_another_error_than_ours(schema: Any, answer: str) -> None:
    structure = json_structure(schema)
    with suppress(RequestRejected):
        check_schema(structure)
        relaxed(structure.text)
        if is_quick(structure, len(answer)):
            fault_of(structure, answer)


@given(VALUES)
def test_the_simulated_engine_answers_or_refuses_every_schema(schema: Any) -> None:
    with suppress(RequestRejected, InvalidOutput):
        begun = simulated().submit(engine_call(chat(structured_outputs={"json": schema})))
        if isinstance(begun, Coroutine):
            begun.close()  # judged in the child: see test_guard.py
