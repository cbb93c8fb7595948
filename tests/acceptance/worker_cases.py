"""Bad records that only the worker can decide on, by its compiler, its engine or the answer's topic."""

from __future__ import annotations

from typing import Any

from tests.acceptance.case import INVALID, TOO_LARGE, TOO_LONG, Case, line, reply_to, simulated

MIB = 1024 * 1024
#: Sizes of topics count after compression, of the same words over and over to a 200th.
TOO_LARGE_FOR_SMALL = f"answer_bytes:{4 * MIB}"
TOO_LARGE_FOR_RESULTS = f"answer_bytes:{20 * MIB}"


def schema(value: Any) -> bytes:
    return line(
        body_response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": value}},
        body_max_tokens=...,
    )


def structure(**kind: str) -> bytes:
    return line(body_structured_outputs=kind, body_max_tokens=...)


CASES = [
    Case("a schema that is none", schema({"type": "strange"}), INVALID),
    Case("a schema whose properties are a list", schema({"type": "object", "properties": [1]}), INVALID),
    Case("a schema of endless reference", schema({"$ref": "#/$defs/nowhere"}), INVALID),
    Case("a regex that explodes", structure(regex="(a?b?c?)" * 30_000), INVALID),
    Case("a regex that does not parse", structure(regex="([a-z"), INVALID),
    Case("a grammar that does not parse", structure(grammar="root ::= ("), INVALID),
    Case("a prompt too long", line(body_messages=[{"role": "user", "content": "x" * 40_000}]), TOO_LONG),
    Case("a prompt of 12 MB", line(body_messages=[{"role": "user", "content": "x" * 12_000_000}]), TOO_LONG),
    Case("an answer too large for the results", simulated(TOO_LARGE_FOR_RESULTS), TOO_LARGE),
    Case(
        "an answer too large for its reply topic",
        simulated(TOO_LARGE_FOR_SMALL),
        TOO_LARGE,
        reply_to("headrace.replies.small"),
    ),
    Case("an engine that refuses", simulated("reject"), INVALID),
    Case("an engine that always fails", simulated("transient:99"), ("engine", "engine")),
    Case("an answer that breaks its structure", simulated("invalid_output:9"), ("invalid_output", "engine")),
]
