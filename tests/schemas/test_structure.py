"""The wish for a structure: exactly one kind, of the right shape."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.decode import Decoder
from schemas.errors import BadRecord
from schemas.failure import ErrorClass, Stage
from schemas.structure import Structure, StructureKind, structure_of
from tests.schemas.lines import as_json, chat

DECODER = Decoder()
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def outputs(**wish: Any) -> dict[str, Any]:
    return chat(structured_outputs=wish)


def answer_format(**wish: Any) -> dict[str, Any]:
    return chat(response_format=wish)


GOOD: dict[str, tuple[dict[str, Any], Structure | None]] = {
    "nothing": (chat(), None),
    "text": (answer_format(type="text"), None),
    "a JSON object": (answer_format(type="json_object"), Structure(StructureKind.JSON_OBJECT, True)),
    "a JSON schema": (
        answer_format(type="json_schema", json_schema={"name": "a", "schema": SCHEMA}),
        Structure(StructureKind.JSON, SCHEMA),
    ),
    "one choice": (outputs(choice=["a"]), Structure(StructureKind.CHOICE, ["a"])),
    "1,000 choices": (outputs(choice=["a"] * 1_000), Structure(StructureKind.CHOICE, ["a"] * 1_000)),
    "a regex": (outputs(regex="[ab]+"), Structure(StructureKind.REGEX, "[ab]+")),
    "a grammar": (outputs(grammar='root ::= "a"'), Structure(StructureKind.GRAMMAR, 'root ::= "a"')),
    "a schema": (outputs(json=SCHEMA), Structure(StructureKind.JSON, SCHEMA)),
    "a schema as text": (
        outputs(json='{"type": "object"}'),
        Structure(StructureKind.JSON, {"type": "object"}),
    ),
    "an object": (outputs(json_object=True), Structure(StructureKind.JSON_OBJECT, True)),
    "nulls beside it": (
        outputs(choice=["a"], regex=None, json_object=False),
        Structure(StructureKind.CHOICE, ["a"]),
    ),
    "options that ask for nothing beside it": (
        outputs(regex="a", whitespace_pattern=None, disable_any_whitespace=False),
        Structure(StructureKind.REGEX, "a"),
    ),
    "text beside it": (
        chat(response_format={"type": "text"}, structured_outputs={"regex": "a"}),
        Structure(StructureKind.REGEX, "a"),
    ),
}

BAD: dict[str, tuple[dict[str, Any], str]] = {
    "format of no type": (answer_format(), r"\$\.body\.response_format\.type: "),
    "format of unknown type": (answer_format(type="xml"), "right is text, json_object or json_schema"),
    "format that is text": (
        chat(response_format="json_object"),
        r"\$\.body\.response_format: expected object",
    ),
    "no schema": (answer_format(type="json_schema"), r"\$\.body\.response_format\.json_schema: "),
    "schema of text": (
        answer_format(type="json_schema", json_schema={"schema": "flub"}),
        r"\$\.body\.response_format\.json_schema: ",
    ),
    "list of outputs": (chat(structured_outputs=["a"]), r"\$\.body\.structured_outputs: expected object"),
    "no kind": (outputs(), "none given; right is exactly one of choice, regex, grammar, json, json_object"),
    "misspelt kind": (outputs(choices=["a"]), "none given"),
    "two kinds": (outputs(choice=["a"], regex="a"), "choice, regex given"),
    "both ways": (
        chat(response_format={"type": "json_object"}, structured_outputs={"regex": "a"}),
        "response_format and structured_outputs both",
    ),
    "no choices": (outputs(choice=[]), "a list of 1 to 1000 non-empty texts"),
    "10,000 choices": (outputs(choice=["a"] * 10_000), "a list of 1 to 1000 non-empty texts"),
    "1,001 choices": (outputs(choice=["a"] * 1_001), "a list of 1 to 1000 non-empty texts"),
    "an empty choice": (outputs(choice=["a", ""]), "non-empty"),
    "a number as choice": (outputs(choice=[1]), "non-empty texts"),
    "text as choices": (outputs(choice="ab"), "a list of"),
    "an empty regex": (outputs(regex=""), r"structured_outputs\.regex: wrong; right is non-empty text"),
    "a number as regex": (outputs(regex=5), r"structured_outputs\.regex: "),
    "a list as grammar": (outputs(grammar=[]), r"structured_outputs\.grammar: "),
    "a number as schema": (outputs(json=5), r"structured_outputs\.json: .*an object, or its JSON text"),
    "a list as schema": (outputs(json=[]), r"structured_outputs\.json: "),
    "text that is no JSON": (outputs(json="{flub"), r"structured_outputs\.json: .*JSON text"),
    "text that is no object": (outputs(json="[1]"), r"structured_outputs\.json: "),
    "deep text": (outputs(json="[" * 100_000), "at most 64 levels"),
    "a word as json_object": (
        outputs(json_object="yes"),
        r"structured_outputs\.json_object: wrong; right is true",
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_the_wish_is_understood(name: str) -> None:
    line, structure = GOOD[name]
    assert structure_of(DECODER.decode(as_json(line)).body) == structure


@pytest.mark.parametrize("name", BAD)
def test_a_malformed_wish_is_invalid(name: str) -> None:
    line, message = BAD[name]
    with pytest.raises(BadRecord, match=message) as caught:
        DECODER.decode(as_json(line))
    failure = caught.value.failure
    assert (failure.error_class, failure.stage) == (ErrorClass.INVALID, Stage.VALIDATE)
