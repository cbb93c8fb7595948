"""A request as it travels inside: parsed once at the edge, trusted afterwards.

The bounds stand in the types: msgspec checks them while it parses, for nothing. Unknown fields are forbidden here and
allowed in wide.py, so that the first, fast pass knows that it has seen every byte.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta


class Task(StrEnum):
    """What is asked of an endpoint; the url of the request line says which."""

    CHAT = "chat"
    COMPLETION = "completion"
    EMBEDDING = "embedding"


TASK_OF_URL: dict[str, Task] = {
    "/v1/chat/completions": Task.CHAT,
    "/v1/completions": Task.COMPLETION,
    "/v1/embeddings": Task.EMBEDDING,
}

TOKENS_MAX: Final = 2**31 - 1
STOPS_MAX: Final = 16
ANSWERS_MAX: Final = 8
#: Texts of one embedding request: OpenAI's bound.
INPUT_TEXTS_MAX: Final = 2_048
#: Token ids of its one text: beyond any model.
INPUT_TOKENS_MAX: Final = 1_000_000

Role = Literal["system", "developer", "user", "assistant", "tool"]
ServiceTier = Literal["priority", "default", "auto", "flex", "batch"]
TokenCount = Annotated[int, Meta(ge=1, le=TOKENS_MAX)]
TokenId = Annotated[int, Meta(ge=0, le=TOKENS_MAX)]
Penalty = Annotated[float, Meta(ge=-2, le=2)]
StopText = Annotated[str, Meta(min_length=1)]


class Message(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """One turn of a chat. `content` is text, a list of `{"type": "text", "text": …}` parts, or null."""

    role: Role
    content: str | list[dict[str, Any]] | None = None
    name: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None


class Body(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """The OpenAI body: the fields that Headrace reads. Others are kept in the record and ignored."""

    model: str
    messages: Annotated[list[Message], Meta(min_length=1)] | None = None
    prompt: str | Annotated[list[TokenId], Meta(min_length=1)] | None = None
    #: Texts, or the token ids of one text; never mixed (validate.py).
    input: str | Annotated[list[str | TokenId], Meta(min_length=1, max_length=INPUT_TOKENS_MAX)] | None = None
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

    @property
    def endpoint(self) -> str:
        return self.body.model
