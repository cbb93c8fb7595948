"""A request as it travels inside: parsed once at the edge, trusted afterwards.

The bounds stand in the types: msgspec checks them while it parses, for nothing. Here are the fields that nearly every
request has, and no others may be given: so the first, fast pass knows that it has seen every byte. Those of a task
with all its fields are in bodies.py. Encoded, or made plain by `msgspec.to_builtins`, a body has what was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from schemas.limits import ANSWERS_MAX, INPUT_TOKENS_MAX, STOPS_MAX, TOKENS_MAX
from schemas.task import Task

__all__ = ["Body", "Line", "Message", "Request", "Task"]

Role = Literal["system", "developer", "user", "assistant", "tool"]
ServiceTier = Literal["priority", "default", "auto", "flex", "batch"]
TokenCount = Annotated[int, Meta(ge=1, le=TOKENS_MAX)]
TokenId = Annotated[int, Meta(ge=0, le=TOKENS_MAX)]
Penalty = Annotated[float, Meta(ge=-2, le=2)]
StopText = Annotated[str, Meta(min_length=1)]
TokenIds = Annotated[list[TokenId], Meta(min_length=1, max_length=INPUT_TOKENS_MAX)]
#: Text, token ids of one text, texts, or lists of token ids; never mixed (lists.py).
TextOrTokens = (
    str | Annotated[Sequence[str | TokenId | TokenIds], Meta(min_length=1, max_length=INPUT_TOKENS_MAX)]
)


class Message(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """One turn of a chat. `content` is text, a list of parts (text, or objects with a type), or null."""

    role: Role
    content: str | Sequence[str | dict[str, Any]] | None = None
    name: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None


class Body(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=True):
    """The usual fields of an OpenAI body. Null is the same as absent."""

    model: str
    messages: Annotated[list[Message], Meta(min_length=1)] | None = None
    prompt: TextOrTokens | None = None
    input: TextOrTokens | None = None
    max_tokens: TokenCount | None = None
    max_completion_tokens: TokenCount | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(gt=0, le=1)] | None = None
    n: Annotated[int, Meta(ge=1, le=ANSWERS_MAX)] | None = None
    stop: StopText | Annotated[list[StopText], Meta(max_length=STOPS_MAX)] | None = None
    seed: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | None = None
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    response_format: dict[str, Any] | None = None
    structured_outputs: dict[str, Any] | None = None
    metadata: dict[str, str] | None = None
    prompt_cache_key: str | None = None
    service_tier: ServiceTier | None = None

    @property
    def tokens_max(self) -> int | None:
        """`max_completion_tokens`, else `max_tokens`, in tokens."""
        return self.max_tokens if self.max_completion_tokens is None else self.max_completion_tokens


class Line(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The request line as it is written: what OpenAI Batch and `vllm run-batch` read."""

    body: Body
    url: str
    #: POST, also when it is left out.
    method: str | None = None
    custom_id: str | None = None


class Request(msgspec.Struct, frozen=True, gc=False):
    """One validated request line."""

    task: Task
    body: Body
    custom_id: str | None = None
    #: JSON paths of fields that had no effect, the first PATHS_MAX of them, and how many there were.
    ignored: tuple[str, ...] = ()
    ignored_count: int = 0

    @property
    def endpoint(self) -> str:
        return self.body.model
