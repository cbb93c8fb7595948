"""A request as it travels inside: parsed once at the edge, trusted afterwards."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec


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


class Message(msgspec.Struct, frozen=True):
    """One turn of a chat. `content` is text, a list of `{"type": "text", "text": …}` parts, or null."""

    role: str
    content: str | list[dict[str, Any]] | None = None
    name: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None


class Body(msgspec.Struct, frozen=True):
    """The OpenAI body: the fields that Headrace reads. Others are kept in the record and ignored."""

    model: str
    messages: list[Message] | None = None
    prompt: str | list[int] | None = None
    input: str | list[str] | list[int] | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    n: int | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    response_format: dict[str, Any] | None = None
    structured_outputs: dict[str, Any] | None = None
    metadata: dict[str, str] | None = None
    prompt_cache_key: str | None = None
    service_tier: str | None = None

    @property
    def tokens_max(self) -> int | None:
        """`max_completion_tokens`, else `max_tokens`, in tokens."""
        return self.max_tokens if self.max_completion_tokens is None else self.max_completion_tokens


class Request(msgspec.Struct, frozen=True):
    """One validated request line."""

    task: Task
    body: Body
    custom_id: str | None = None

    @property
    def endpoint(self) -> str:
        return self.body.model
