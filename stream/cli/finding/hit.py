"""What can be said of a record's place."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from schemas.source import Source


class State(StrEnum):
    """Where a record is, in the order of its life. (`parked` comes with quotas.)"""

    WAITING = "waiting"
    RELEASED = "released"
    RUNNING = "running"
    ANSWERED = "answered"
    #: Its work is done, and no reader finds its output.
    FINISHED = "finished"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Hit:
    """One record found."""

    source: Source
    state: State
    #: The record that says so: on the input, work or output topic. None: no reader finds one.
    where: Source | None
    #: For a person: the failure, what is before it, who runs it.
    why: str | None = None
