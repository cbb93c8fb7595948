"""A dead letter for people and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from stream.cli.dead_letter.states import Became, LetterState
from stream.cli.timestamps import told
from stream.client.record_line import readable
from stream.replay.find import FoundLetter

#: Of a message in a list, and of a custom_id.
MESSAGE_CHARS_MAX: Final = 160
ID_CHARS_MAX: Final = 64


def facts(found: FoundLetter, became: Became) -> dict[str, Any]:
    """What a list tells of it."""
    letter, marker = found.letter, became.marker
    return {
        "letter": found.place,
        "died": told(found.died_ms),
        "custom_id": found.custom_id,
        "state": became.state,
        "answer": None if became.answer is None else str(became.answer),
        "decided": None if marker is None or marker.at_ms is None else told(marker.at_ms),
        "reason": None if marker is None else marker.reason,
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


def whole(found: FoundLetter, became: Became) -> dict[str, Any]:
    """With the original's key, headers and value."""
    letter = found.letter
    encoding, value = readable(letter.value)
    headers = [[name, readable(content)[1]] for name, content in letter.original_headers]
    return {
        **facts(found, became),
        "key": readable(letter.key)[1],
        "headers": headers,
        "encoding": encoding,
        "value": value,
        "value_omitted": letter.value_omitted,
    }


def line(found: FoundLetter, became: Became) -> str:
    """One line of a list."""
    failure = found.letter.failure
    custom_id = "-" if found.custom_id is None else _short(found.custom_id, ID_CHARS_MAX)
    cause = f"{failure.error_class} ({failure.stage}): {_short(failure.message, MESSAGE_CHARS_MAX)}"
    return f"{told(found.died_ms)}  {found.letter.source}  {custom_id}  {_state(became)}  {cause}"


def paragraph(found: FoundLetter, became: Became) -> Iterator[str]:
    """All of it, a line a fact."""
    shown = whole(found, became)
    headers, value = shown.pop("headers"), shown.pop("value")
    yield from (f"{name}: {fact}" for name, fact in shown.items() if fact is not None)
    yield from (f"header {name}: {content}" for name, content in headers)
    yield "value:" if value is not None else "value: null"
    if value is not None:
        yield str(value)


class Counts:
    """How many there are of each class and state."""

    def __init__(self) -> None:
        self._classes: Counter[str] = Counter()
        self._states: Counter[str] = Counter()

    def add(self, found: FoundLetter, became: Became) -> None:
        self._classes[found.letter.failure.error_class] += 1
        self._states[became.state] += 1

    @property
    def total(self) -> int:
        return self._states.total()

    def facts(self) -> dict[str, Any]:
        open_ = self._states[LetterState.OPEN]
        return {
            "all": self.total,
            "open": open_,
            "classes": dict(self._classes.most_common()),
            "states": dict(self._states.most_common()),
        }

    def words(self) -> str:
        classes = ", ".join(f"{count} {name}" for name, count in self._classes.most_common())
        states = ", ".join(f"{count} {name}" for name, count in self._states.most_common())
        return f"{self.total} dead letters ({states}): {classes}"


def _state(became: Became) -> str:
    if became.answer is not None and became.state is LetterState.ANSWERED:
        return f"answered at {became.answer}"
    reason = became.marker.reason if became.marker is not None else None
    return f"{became.state}: {_short(reason, ID_CHARS_MAX)}" if reason else str(became.state)


def _short(text: str, chars_max: int) -> str:
    """On one line."""
    line_ = " ".join(text.split())
    return line_ if len(line_) <= chars_max else line_[:chars_max] + "…"
