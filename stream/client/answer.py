"""What became of a request: an answer, or why there is none. Read from a result or from a dead letter."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from schemas import headers as names
from schemas.custom_id import custom_id_in
from schemas.headers import Headers
from stream.log.base import Record
from stream.log.readable import safe_headers


class Answer(NamedTuple):
    """One request's end."""

    #: topic/partition/offset of the request.
    source: str
    custom_id: str | None
    #: The result line, or the request as it was sent where it is a dead letter.
    value: bytes
    #: Empty for an answer; else the class of the failure, the stage that found it, and words for a person.
    error_class: str = ""
    stage: str = ""
    message: str = ""

    @property
    def ok(self) -> bool:
        return not self.error_class

    @property
    def body(self) -> dict[str, Any]:
        """The answer as OpenAI's API has it; ValueError where there is none."""
        if not self.ok:
            raise ValueError(f"no answer to {self.source}: {self.error_class}: {self.message}")
        found: dict[str, Any] = msgspec.json.decode(self.value)["response"]["body"]
        return found

    @property
    def text(self) -> str:
        """The first choice's text; ValueError where there is none."""
        choices = self.body.get("choices") or [{}]
        text = choices[0].get("text", choices[0].get("message", {}).get("content"))
        if text is None:
            raise ValueError(f"the answer to {self.source} has no text: see its body")
        return str(text)


def answer_of(record: Record) -> Answer | None:
    """None for a record that is no output of the service."""
    return read_answer(record.value(), safe_headers(record))


def read_answer(value: bytes | None, headers: Headers | None) -> Answer | None:
    """A dead letter is known by its class header, an error that travels as a result by its line."""
    texts = {name: (content or b"").decode("utf-8", "replace") for name, content in headers or ()}
    source, line = texts.get(names.SOURCE), value or b""
    if source is None:
        return None
    if error_class := texts.get(names.ERROR_CLASS):
        message = texts.get(names.DLQ_PREFIX + "message", "")
        return Answer(source, custom_id_in(value), line, error_class, texts.get(names.STAGE, ""), message)
    try:
        found = msgspec.json.decode(line)
        error = found.get("error") or {}
        return Answer(
            source, found.get("custom_id"), line, error.get("code", ""), "", error.get("message", "")
        )
    except (msgspec.DecodeError, AttributeError):
        return None
