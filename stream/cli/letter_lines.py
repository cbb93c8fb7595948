"""A dead letter for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stream.cli.moments import told
from stream.cli.record_line import readable
from stream.replay.find import Found

#: Of a message in a list.
MESSAGE_CHARS_MAX: Final = 160


def facts(found: Found) -> dict[str, Any]:
    """What a list tells of it."""
    letter = found.letter
    return {
        "letter": found.place,
        "died": told(found.died_ms),
        "class": letter.failure.error_class,
        "stage": letter.failure.stage,
        "source": str(letter.source),
        "tenant": letter.tenant,
        "lane": letter.lane,
        "endpoint": letter.endpoint,
        "attempts": letter.attempts,
        "replay": letter.replay,
        "message": letter.failure.message,
    }


def whole(found: Found) -> dict[str, Any]:
    """With the original's key, headers and value."""
    letter = found.letter
    encoding, value = readable(letter.value)
    headers = [[name, readable(content)[1]] for name, content in letter.original_headers]
    return {
        **facts(found),
        "key": readable(letter.key)[1],
        "headers": headers,
        "encoding": encoding,
        "value": value,
        "value_omitted": letter.value_omitted,
    }


def line(found: Found) -> str:
    """One line of a list."""
    letter = found.letter
    message = " ".join(letter.failure.message.split())
    if len(message) > MESSAGE_CHARS_MAX:
        message = message[:MESSAGE_CHARS_MAX] + "…"
    cause = f"{letter.failure.error_class} ({letter.failure.stage})"
    return f"{told(found.died_ms)}  {letter.source}  {cause}: {message}"


def paragraph(found: Found) -> Iterator[str]:
    """All of it, a line a fact."""
    shown = whole(found)
    headers, value = shown.pop("headers"), shown.pop("value")
    yield from (f"{name}: {fact}" for name, fact in shown.items() if fact is not None)
    yield from (f"header {name}: {content}" for name, content in headers)
    yield "value:" if value is not None else "value: null"
    if value is not None:
        yield str(value)
