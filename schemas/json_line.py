"""A request from JSON text: one fast pass for the usual line, a careful one for all others.

The fast pass decodes every string, so that msgspec itself has checked its UTF-8, and its depth is bounded by the types
where no free-form field is given. Fields that are seldom, unknown or free-form, and everything wrong, take the careful
pass.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from schemas.bodies import LINE_OF, WholeMessage
from schemas.checks.line import checked, request_of, task_of, without_foreign
from schemas.checks.narrow import narrow
from schemas.checks.usual import usual_request
from schemas.errors import BadRecord
from schemas.explain import explain
from schemas.fields.bodies import BODY_OF, LINE
from schemas.fields.ignored import Ignored
from schemas.fields.messages import MESSAGE_OF
from schemas.json_text import check_text
from schemas.request import Body, Line, Message, Request
from schemas.task import Task


class _Address(msgspec.Struct):
    """What says how to read the rest."""

    url: str


_Names = dict[str, msgspec.Raw]
_LINE: Final = msgspec.json.Decoder(Line)
_ADDRESS: Final = msgspec.json.Decoder(_Address)
_WHOLE: Final = {task: msgspec.json.Decoder(line) for task, line in LINE_OF.items()}
_NAMES: Final = msgspec.json.Decoder(_Names)
_MESSAGES: Final = msgspec.json.Decoder(list[_Names])
_ROLE_FIELDS: Final = frozenset(WholeMessage.__struct_fields__)
_SYNTAX: Final = msgspec.json.Decoder(msgspec.Raw)
_ANY: Final = msgspec.json.Decoder()
#: The first half of a surrogate pair without its second.
_HALF_CHARACTER: Final = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})")
_WHITESPACE: Final = b" \t\r\n"


def request_of_json(value: bytes, refuse_unknown: bool = False) -> Request:
    """Parse strictly; BadRecord says what is wrong and where."""
    try:
        line = _LINE.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return _careful(value, refuse_unknown)
    usual = usual_request(line)
    if usual is not None:
        return usual
    if _has_free_form(line.body):
        check_text(value)
    return request_of(line, Ignored(refuse_unknown))


def _has_free_form(body: Body) -> bool:
    """Whether a field is given whose depth its type does not bound."""
    if body.response_format is not None or body.structured_outputs is not None:
        return True
    # A plain loop: any() would make a generator for every record.
    for message in body.messages or ():  # noqa: SIM110
        if message.content.__class__ is list or message.tool_calls is not None:
            return True
    return False


def _careful(value: bytes, refuse_unknown: bool) -> Request:
    """Names first: what must not be given is told so, whatever its value."""
    check_text(value)
    found = Ignored(refuse_unknown)
    task: Task | None = None
    try:
        names = _NAMES.decode(value)
        task = task_of(_url(names, value))
        found.judge_all(LINE, _others(names, LINE.honoured), "$")
        inner = _body_names(names)
        level = BODY_OF[task]
        found.judge_all(level, _others(inner, level.honoured), "$.body")
        line = _WHOLE[task].decode(value)
    except msgspec.ValidationError as error:
        raise _wrong_field(value, error, task) from error
    except msgspec.DecodeError as error:
        raise _not_json(value, error) from error
    if task is Task.CHAT and line.body.messages:
        _judge_messages(line.body.messages, _MESSAGES.decode(inner["messages"]), found)
    return checked(task, narrow(without_foreign(line.url, line.body)), line, found)


def _url(names: _Names, value: bytes) -> str:
    """The line's own decoder says what is wrong with it."""
    url = _plain(names["url"]) if "url" in names else None
    return url if isinstance(url, str) else _ADDRESS.decode(value).url


def _body_names(names: _Names) -> _Names:
    """None where the body is no object; that it must be one is told by its type."""
    body = names.get("body", b"")
    return _NAMES.decode(body) if bytes(body)[:1] == b"{" else {}


def _judge_messages(messages: list[Message], named: list[_Names], found: Ignored) -> None:
    """Fields of no role at all: the others stand in the message itself, and are judged there."""
    for place, names in enumerate(named):
        if not names.keys() <= _ROLE_FIELDS:
            level = MESSAGE_OF[messages[place].role]
            found.judge_all(level, _others(names, _ROLE_FIELDS), f"$.body.messages[{place}]")


def _others(names: _Names, known: frozenset[str]) -> dict[str, Any]:
    """Values of fields beside the known ones; what is no value that Python can hold stands for itself."""
    return {name: _plain(raw) for name, raw in names.items() if name not in known}


def _plain(raw: msgspec.Raw) -> Any:
    try:
        return _ANY.decode(raw)
    except msgspec.DecodeError:  # a number out of range: it asks for something, whatever it is
        return raw


def _wrong_field(value: bytes, error: msgspec.ValidationError, task: Task | None) -> BadRecord:
    # msgspec stops at the first wrong field; what follows it may still not be JSON, and that counts first.
    try:
        _SYNTAX.decode(value)
    except msgspec.DecodeError as syntax:
        return _not_json(value, syntax)
    if value.lstrip(_WHITESPACE)[:1] != b"{":
        return BadRecord.unreadable("JSON, but not an object; a request line is one object")
    return BadRecord.invalid(explain(error, task))


def _not_json(value: bytes, error: msgspec.DecodeError) -> BadRecord:
    half = _HALF_CHARACTER.search(value)
    if half is not None and "truncated" in str(error):  # msgspec's word for it
        text = f"the escape {half.group().decode()} at byte {half.start()} is half a character"
        return BadRecord.unreadable(f"not JSON: {text}")
    return BadRecord.unreadable(f"not JSON: {str(error).removeprefix('JSON is malformed: ')}")
