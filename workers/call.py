"""A call from the Kafka thread to the runner, and what comes back.

Structs of msgspec and not dataclasses: one of each is made per record, and a frozen dataclass costs ten times as much.
"""

from __future__ import annotations

import msgspec

from schemas.failure import Failure
from schemas.lane import Lane
from schemas.request import Request
from schemas.source import Source
from workers.engines.base import Answer, Tokens


class Call(msgspec.Struct, frozen=True, gc=False):
    """A record that may start now: its session is free and a slot is there."""

    #: `topic/partition/offset/leader epoch` of the work record: unique inside the process.
    id: str
    request: Request
    source: Source
    tenant: str
    lane: Lane
    deadline_ms: int | None = None
    #: The map names it: it runs with nothing beside it, and its start and end are written down.
    named: bool = False


class Finished(msgspec.Struct, frozen=True, gc=False):
    """The end of a call: an answer or a failure, with all that its attempts used. The request itself is let go."""

    #: Of the call.
    id: str
    custom_id: str | None
    outcome: Answer | Failure
    #: Engine attempts; 0: never ran (expired).
    attempts: int
    #: Sum over all attempts.
    tokens: Tokens
    #: ms since the epoch: the first attempt began (where none did: the end).
    started_ms: int
    first_token_ms: int | None
    done_ms: int
    #: Of the request: fields without effect, the first of them by path, and how many there were.
    ignored: tuple[str, ...] = ()
    ignored_count: int = 0
