"""The boundary to whatever computes answers. `simulated` and `vllm` implement it; one contract suite runs on both."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from schemas.lane import Lane
from schemas.request import Request, Task
from schemas.source import Source

NO_CLAMPS: Final[Mapping[str, int]] = MappingProxyType({})


class Tokens(NamedTuple):
    """Token counts of one call, or of the sum of a record's calls."""

    input: int = 0
    output: int = 0
    cached: int = 0

    def plus(self, other: Tokens) -> Tokens:
        return Tokens(self.input + other.input, self.output + other.output, self.cached + other.cached)


class EngineCall(msgspec.Struct, frozen=True, gc=False):
    """One request on its way into an engine."""

    #: Unique among the calls inside the engine.
    id: str
    request: Request
    source: Source
    tenant: str
    lane: Lane
    #: 1 for the first engine attempt of this record in this process.
    attempt: int = 1


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What an engine gave: the OpenAI answer body (with `usage`), its tokens, and when its first token came."""

    body: Mapping[str, Any]
    tokens: Tokens
    #: Seconds from hand-over to the first token; None where there are none (embeddings).
    first_token_s: float | None = None
    #: Fields that were lowered to what the model has room for, with the value used.
    clamped: Mapping[str, int] = NO_CLAMPS


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

    def prepare(self, request: Request) -> Awaitable[None] | None:
        """What a request would wait for inside the engine though it needs none of its room, such as a compiler.

        None: nothing, as nearly always. To be awaited before `submit`; it says nothing and may fail, for `submit`
        finds out again, and quickly then.
        """

    def steps(self) -> int:
        """How many steps the engine has made: a number that stands still while calls run means a hang.

        Raises EngineDead where the engine is known to be gone.
        """

    async def stop(self) -> None:
        """End the engine and its processes; running calls are aborted. Idempotent."""
