"""A call from the Kafka thread to the runner, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.failure import Failure
from schemas.lane import Lane
from schemas.request import Request
from schemas.source import Source
from workers.engines.base import Answer, Tokens


@dataclass(frozen=True, slots=True)
class Call:
    """A record that may start now: its session is free and a slot is there."""

    #: `topic/partition/offset/leader epoch` of the work record: unique inside the process.
    id: str
    request: Request
    source: Source
    tenant: str
    lane: Lane
    deadline_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a call: an answer or a failure, with all that its attempts used."""

    call: Call
    outcome: Answer | Failure
    #: Engine attempts; 0: never ran (expired).
    attempts: int
    #: Sum over all attempts.
    tokens: Tokens
    #: ms since the epoch.
    started_ms: int
    first_token_ms: int | None
    done_ms: int
