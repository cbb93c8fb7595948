"""Schemas that a record could use against its reader are refused before anything is read with them."""

from __future__ import annotations

import itertools
import json

import pytest

from schemas.avro import AvroSchema
from schemas.errors import SchemaInvalid


def chain(length: int, width: int) -> str:
    """Records that stand in a union, each with `width` fields of the one before it: shallow as text, deep as values."""
    records = [{"type": "record", "name": "N0", "fields": [{"name": "a", "type": "int"}]}]
    for place in range(1, length):
        fields = [{"name": f"f{index}", "type": f"N{place - 1}"} for index in range(width)]
        records.append({"type": "record", "name": f"N{place}", "fields": fields})
    return json.dumps(records)


def nested_arrays(levels: int, inner: str) -> object:
    return inner if not levels else {"type": "array", "items": nested_arrays(levels - 1, inner)}


def deep_chain() -> str:
    """Each text is 50 levels deep, and names lead from one to the next."""
    names = ["int", *(f"N{number}" for number in range(40))]
    return json.dumps(
        [
            {"type": "record", "name": name, "fields": [{"name": "f", "type": nested_arrays(50, inner)}]}
            for inner, name in itertools.pairwise(names)
        ]
    )


def of_nothings(fields: int, kind: str = "array") -> str:
    """Members of one byte and so many nulls."""
    nulls = [{"name": f"n{number}", "type": "null"} for number in range(fields)]
    record = {"type": "record", "name": "R", "fields": [{"name": "b", "type": "boolean"}, *nulls]}
    return json.dumps({"type": kind, "items" if kind == "array" else "values": record})


RECURSIVE = {"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "N"]}]}
UNSAFE: dict[str, tuple[str, str]] = {
    "no JSON": ("{", "not an Avro schema"),
    "an unknown type": ('{"type": "flub"}', "not an Avro schema"),
    "a number": ("5", "not an Avro schema"),
    "a record without a name": ('{"type": "record", "fields": []}', "not an Avro schema"),
    "recursion": (json.dumps(RECURSIVE), "recursive"),
    "recursion through an array": (
        json.dumps(
            {
                "type": "record",
                "name": "N",
                "fields": [{"name": "a", "type": {"type": "array", "items": "N"}}],
            }
        ),
        "recursive",
    ),
    "recursion through a map": (
        json.dumps(
            {"type": "record", "name": "N", "fields": [{"name": "a", "type": {"type": "map", "values": "N"}}]}
        ),
        "recursive",
    ),
    "an array of nulls": ('{"type": "array", "items": "null"}', "take no bytes"),
    "an array of empty records": (
        '{"type": "array", "items": {"type": "record", "name": "A", "fields": []}}',
        "take no bytes",
    ),
    "an array of empty fixed": (
        '{"type": "array", "items": {"type": "fixed", "name": "A", "size": 0}}',
        "take no bytes",
    ),
    "arrays of many nothings": (of_nothings(5_000), "more than 64 fields that take no bytes"),
    "maps of many nothings": (of_nothings(65, "map"), "more than 64 fields that take no bytes"),
    "arrays that names nest": (deep_chain(), "nests"),
    "a chain of 100 names": (chain(100, 1), "deeper than 64 records"),
    "a tree that doubles 40 times": (chain(40, 2), "more than 10000 types"),
    "10,000 levels": ('{"type": "array", "items": ' * 10_000 + '"int"' + "}" * 10_000, "deeper than 64"),
}


@pytest.mark.parametrize("name", UNSAFE)
def test_a_schema_that_is_not_safe_is_refused(name: str) -> None:
    text, message = UNSAFE[name]
    with pytest.raises(SchemaInvalid, match=message):
        AvroSchema(text)


def test_members_with_some_nulls_are_read() -> None:
    schema = AvroSchema(of_nothings(64))
    assert len(schema.read(b"\x02\x01\x00")[0]) == 65


def test_a_name_used_twice_is_not_recursion() -> None:
    inner = {"type": "record", "name": "In", "fields": [{"name": "x", "type": "int"}]}
    text = json.dumps(
        {
            "type": "record",
            "name": "Out",
            "fields": [{"name": "a", "type": inner}, {"name": "b", "type": "In"}],
        }
    )
    schema = AvroSchema(text)
    assert schema.read(schema.write({"a": {"x": 1}, "b": {"x": 2}})) == {"a": {"x": 1}, "b": {"x": 2}}
