"""The boundary to whatever computes answers. `simulated` and `vllm` implement it; one contract suite runs on both."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from schemas.lane import Lane
from schemas.request import Request, Task
from schemas.source import Source


class Tokens(NamedTuple):
    """Token counts of one call, or of the sum of a record's calls."""

    input: int = 0
    output: int = 0
    cached: int = 0

    def plus(self, other: Tokens) -> Tokens:
        return Tokens(self.input + other.input, self.output + other.output, self.cached + other.cached)


@dataclass(frozen=True, slots=True)
class EngineCall:
    """One request on its way into an engine."""

    #: Unique among the calls inside the engine.
    id: str
    request: Request
    source: Source
    tenant: str
    lane: Lane
    #: 1 for the first engine attempt of this record in this process.
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Answer:
    """What an engine gave: the OpenAI answer body (with `usage`), its tokens, and when its first token came."""

    body: Mapping[str, Any]
    tokens: Tokens
    #: Seconds from hand-over to the first token; None where there are none (embeddings).
    first_token_s: float | None = None
    #: Fields that were lowered to what the model has room for, with the value used.
    clamped: Mapping[str, int] = field(default_factory=dict)


class Engine(Protocol):
    """One replica. All methods run on the engine loop (asyncio), never on the Kafka thread."""

    tasks: frozenset[Task]

    async def start(self) -> None:
        """Load; raises EngineStartError. May be called again after `EngineDead` and `stop`."""

    def submit(self, call: EngineCall) -> Answer | Awaitable[Answer]:
        """The answer itself where it is known at once (that saves a task), else a promise of it.

        Raises, or the promise raises: RequestRejected, InvalidOutput, TransientEngineError, EngineDead.
        Cancelling the promise aborts the call inside the engine.
        """

    async def stop(self) -> None:
        """End the engine and its processes; running calls are aborted. Idempotent."""
