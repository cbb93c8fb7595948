"""A request line from an Avro value, and the schema that Headrace offers for it.

Any writer's schema does whose fields have the names and types of the JSON line. The free-form parts may be given as
JSON text, since Avro has no type for them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from schemas.avro import AvroSchema
from schemas.bodies import LINE_OF, WholeMessage
from schemas.checks.line import checked, request_of, task_of, without_foreign
from schemas.checks.narrow import narrow
from schemas.errors import BadRecord
from schemas.explain import explain
from schemas.fields.bodies import BODY_OF, LINE
from schemas.fields.ignored import Ignored
from schemas.fields.messages import MESSAGE_OF
from schemas.json_text import DEPTH_MAX, deeper_than
from schemas.request import Line, Message, Request
from schemas.task import Task

#: Fields of the body that are free-form JSON.
FREE_FORM: Final = (
    "response_format",
    "structured_outputs",
    "tools",
    "chat_template_kwargs",
    "repetition_detection",
)


def request_of_avro(payload: bytes, schema: AvroSchema, refuse_unknown: bool = False) -> Request:
    """BadRecord: `unreadable` where the bytes do not fit the schema, `invalid` where a field is wrong."""
    value = schema.read(payload)
    if not isinstance(value, dict):
        raise BadRecord.unreadable("Avro, but not a record; a request line is one record")
    body = value.get("body")
    if isinstance(body, dict):
        value["body"] = _free_form_read(body)
    found = Ignored(refuse_unknown, null_is_absent=True)
    try:
        line = msgspec.convert(value, Line)
    except msgspec.ValidationError:
        return _careful(value, found)
    return request_of(line, found)


def _careful(value: dict[str, Any], found: Ignored) -> Request:
    """Names first: what must not be given is told so, whatever its value."""
    body = value.get("body")
    task: Task | None = None
    try:
        task = task_of(msgspec.convert(value, _Address).url)
        found.judge_all(LINE, value, "$")
        if isinstance(body, dict):
            found.judge_all(BODY_OF[task], body, "$.body")
        line = msgspec.convert(value, LINE_OF[task])
    except msgspec.ValidationError as error:
        raise BadRecord.invalid(explain(error, task)) from error
    if task is Task.CHAT and isinstance(body, dict):
        _judge_messages(line.body.messages or [], body["messages"], found)
    return checked(task, narrow(without_foreign(line.url, line.body)), line, found)


class _Address(msgspec.Struct):
    """What says how to read the rest."""

    url: str


def _free_form_read(body: dict[str, Any]) -> dict[str, Any]:
    return {
        **body,
        **{name: _json_value(name, body[name]) for name in FREE_FORM if body.get(name) is not None},
    }


def _judge_messages(messages: list[Message], records: list[dict[str, Any]], found: Ignored) -> None:
    """Fields of no role at all: the others stand in the message itself, and are judged there."""
    known = frozenset(WholeMessage.__struct_fields__)
    for place, record in enumerate(records if messages else ()):
        if not record.keys() <= known:
            others = {name: value for name, value in record.items() if name not in known}
            found.judge_all(MESSAGE_OF[messages[place].role], others, f"$.body.messages[{place}]")


def _json_value(name: str, value: object) -> object:
    """JSON text is parsed; an Avro record or map is taken if it holds nothing that JSON cannot say."""
    if isinstance(value, str):
        return _parsed(name, value)
    if not _is_json(value):
        raise BadRecord.invalid(f"$.body.{name}: holds bytes, dates or NaN; right is what JSON can say")
    return value


def _parsed(name: str, text: str) -> object:
    raw = text.encode()
    if deeper_than(raw, DEPTH_MAX):
        raise BadRecord.invalid(f"$.body.{name}: nested too deep; right is at most {DEPTH_MAX} levels")
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError as error:
        raise BadRecord.invalid(f"$.body.{name}: not JSON text: {error}") from error


def _is_json(value: object) -> bool:
    """Recursion is bounded: the schema nests at most DEPTH_MAX levels."""
    match value:
        case dict():
            return all(isinstance(key, str) and _is_json(item) for key, item in value.items())
        case list():
            return all(_is_json(item) for item in value)
        case float():
            return math.isfinite(value)
        case _:
            return value is None or isinstance(value, str | int)


def _optional(name: str, *types: Any) -> dict[str, Any]:
    return {"name": name, "type": ["null", *types], "default": None}


_MESSAGE: Final = {
    "type": "record",
    "name": "Message",
    "fields": [
        {"name": "role", "type": "string"},
        _optional("content", "string"),
        _optional("name", "string"),
    ],
}
_TEXTS: Final = {"type": "array", "items": "string"}
_BODY: Final = {
    "type": "record",
    "name": "Body",
    "fields": [
        {"name": "model", "type": "string"},
        _optional("messages", {"type": "array", "items": _MESSAGE}),
        _optional("prompt", "string"),
        _optional("input", "string", _TEXTS),
        _optional("max_tokens", "long"),
        _optional("max_completion_tokens", "long"),
        _optional("temperature", "double"),
        _optional("top_p", "double"),
        _optional("n", "int"),
        _optional("stop", "string", _TEXTS),
        _optional("seed", "long"),
        _optional("presence_penalty", "double"),
        _optional("frequency_penalty", "double"),
        _optional("response_format", "string"),
        _optional("structured_outputs", "string"),
        _optional("metadata", {"type": "map", "values": "string"}),
        _optional("prompt_cache_key", "string"),
        _optional("service_tier", "string"),
    ],
}
#: The request line as an Avro schema, for producers that have none of their own. Free-form fields are JSON text.
REQUEST_LINE: Final = json.dumps(
    {
        "type": "record",
        "name": "RequestLine",
        "namespace": "headrace",
        "fields": [
            _optional("custom_id", "string"),
            {"name": "method", "type": "string", "default": "POST"},
            {"name": "url", "type": "string"},
            {"name": "body", "type": _BODY},
        ],
    },
    indent=2,
)


def avro_of_line(line: Mapping[str, Any], schema: AvroSchema) -> bytes:
    """A request line (as JSON has it) written with REQUEST_LINE: free-form fields become JSON text."""
    body = dict(line["body"])
    for name in FREE_FORM:
        if isinstance(body.get(name), dict):
            body[name] = json.dumps(body[name])
    return schema.write({**line, "body": body})
