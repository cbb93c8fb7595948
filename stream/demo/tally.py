"""The demo's sum: each input has exactly one output. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from schemas import headers as names
from schemas.headers import Headers


class Outcome(NamedTuple):
    """One output record, as far as the demo shows it."""

    source: str
    #: The answer's text; None for a dead letter.
    text: str | None
    #: Class, stage and message of a dead letter; empty for a result.
    error_class: str = ""
    stage: str = ""
    message: str = ""


class Tally(NamedTuple):
    """Counts of inputs, by how many outputs they have."""

    inputs: int
    results: int
    dead_letters: int
    missing: int
    repeated: int
    strangers: int

    @property
    def exact(self) -> bool:
        """Each input has exactly one output, and nothing else was written."""
        return (self.missing, self.repeated, self.strangers) == (0, 0, 0)


def tally(sources: Sequence[str], outcomes: Iterable[Outcome]) -> Tally:
    """Hold the outputs against the `sources` (topic/partition/offset) that were produced."""
    counts = dict.fromkeys(sources, 0)
    results = dead = strangers = 0
    for outcome in outcomes:
        results += outcome.text is not None
        dead += outcome.text is None
        if outcome.source in counts:
            counts[outcome.source] += 1
        else:
            strangers += 1
    missing = sum(count == 0 for count in counts.values())
    repeated = sum(count > 1 for count in counts.values())
    return Tally(len(sources), results, dead, missing, repeated, strangers)


def read_outcome(value: bytes | None, headers: Headers | None) -> Outcome:
    """An output record of either topic: dead letters are known by their class header."""
    texts = {name: (content or b"").decode() for name, content in headers or []}
    source = texts.get(names.SOURCE, "")
    if error_class := texts.get(names.ERROR_CLASS):
        message = texts.get(names.DLQ_PREFIX + "message", "")
        return Outcome(source, None, error_class, texts.get(names.STAGE, ""), message)
    return Outcome(source, _text(msgspec.json.decode(value or b"{}")))


def _text(result: dict[str, Any]) -> str:
    choice = result["response"]["body"]["choices"][0]
    return str(choice["message"]["content"])
