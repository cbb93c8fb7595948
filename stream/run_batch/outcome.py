"""What became of a row: a line as `vllm run-batch` writes it, from a result or from a dead letter."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from schemas import headers as names
from schemas.custom_id import custom_id_in
from schemas.headers import DLQ_PREFIX, Headers
from stream.log.base import Record
from stream.log.readable import safe_headers
from stream.run_batch.batch_headers import ROW, error_line, read_mark
from stream.run_batch.row import Mark

_NULL: Final = msgspec.Raw(b"null")


class _Told(msgspec.Struct, omit_defaults=True):
    """Of what `headrace` tells beside the answer, that which a request asked for and did not get."""

    ignored: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    clamped: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Result(msgspec.Struct, omit_defaults=True):
    """A result's own four fields, unparsed; `headrace` stays where it names what had no effect."""

    id: msgspec.Raw
    custom_id: msgspec.Raw
    response: msgspec.Raw
    error: msgspec.Raw
    headrace: _Told | msgspec.UnsetType = msgspec.UNSET


_NOTHING: Final = _Told()
_RESULT: Final = msgspec.json.Decoder(_Result)
_encode: Final = msgspec.json.Encoder().encode


class Outcome(NamedTuple):
    """A row's end."""

    row: int
    failed: bool
    #: One line of output, without its end.
    line: bytes


def outcome_of(record: Record, batch: str) -> Outcome | Mark | None:
    """None for a record of somebody else."""
    headers = safe_headers(record) or []
    row = _row(headers, batch)
    if row is None:
        return read_mark(headers, record.value(), batch)
    texts = {name: value for name, value in headers if value is not None}
    if names.ERROR_CLASS in texts:
        return Outcome(row, True, _dead(record, texts))
    result = _RESULT.decode(record.value() or b"{}")
    if result.headrace == _NOTHING:
        result.headrace = msgspec.UNSET
    return Outcome(row, result.error != _NULL, _encode(result))


def _row(headers: Headers, batch: str) -> int | None:
    begin = f"{batch}/".encode()
    for name, value in headers:
        if name == ROW and value is not None and value.startswith(begin):
            return int(value[len(begin) :])
    return None


def _dead(record: Record, texts: dict[str, bytes]) -> bytes:
    code = texts[names.ERROR_CLASS].decode("utf-8", "replace")
    message = texts.get(f"{DLQ_PREFIX}message", b"").decode("utf-8", "replace")
    source = texts.get(names.SOURCE, b"").decode("utf-8", "replace")
    return error_line(source, custom_id_in(record.value()), code, message)


class Cells(NamedTuple):
    """The two columns that a table gets for a row, the custom_id, and fields that had no effect."""

    custom_id: str | None
    answer: str | None
    error: str | None
    named: list[str]


def cells_of(line: bytes) -> Cells:
    """From an output line. One answer is its text (an embedding: its numbers as JSON), several are a JSON array."""
    found = msgspec.json.decode(line)
    error, named = found["error"], _named(found.get("headrace") or {})
    if error is not None:
        return Cells(found["custom_id"], None, f"{error.get('code')}: {error.get('message')}", named)
    return Cells(found["custom_id"], _answer(found["response"]["body"]), None, named)


def _named(told: dict[str, Any]) -> list[str]:
    ignored = told.get("ignored") or {"paths": [], "count": 0}
    more = ["more ignored"] if ignored["count"] > len(ignored["paths"]) else []
    return [
        *(f"{path} ignored" for path in ignored["paths"]),
        *more,
        *(f"{name} lowered" for name in told.get("clamped") or {}),
    ]


def _answer(body: dict[str, Any]) -> str | None:
    found = body["choices"] if "choices" in body else body["data"]
    answers = [_one(part) for part in sorted(found, key=lambda part: int(part.get("index", 0)))]
    if len(answers) != 1:
        return _json(answers) if answers else None
    return answers[0] if answers[0] is None or isinstance(answers[0], str) else _json(answers[0])


def _one(part: dict[str, Any]) -> Any:
    """A text, an embedding, or the calls of tools; with a text beside them both, by their names."""
    if "embedding" in part:
        return part["embedding"]
    if "text" in part:
        return str(part["text"])
    message = part["message"]
    text = message.get("refusal") if message.get("content") is None else message["content"]
    calls = message.get("tool_calls") or None
    if calls and text:
        return {"content": text, "tool_calls": calls}
    return calls or text


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
