"""The demo's sum: each input has exactly one output. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stream.client.answer import Answer


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


def tally(sources: Sequence[str], outcomes: Iterable[Answer]) -> Tally:
    """Hold the outputs against the `sources` (topic/partition/offset) that were produced."""
    counts = dict.fromkeys(sources, 0)
    results = dead = strangers = 0
    for outcome in outcomes:
        results += outcome.ok
        dead += not outcome.ok
        if outcome.source in counts:
            counts[outcome.source] += 1
        else:
            strangers += 1
    missing = sum(count == 0 for count in counts.values())
    repeated = sum(count > 1 for count in counts.values())
    return Tally(len(sources), results, dead, missing, repeated, strangers)
