"""What is asked of an endpoint; the url of the request line says which."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Task(StrEnum):
    """One of three."""

    CHAT = "chat"
    COMPLETION = "completion"
    EMBEDDING = "embedding"


TASK_OF_URL: Final[dict[str, Task]] = {
    "/v1/chat/completions": Task.CHAT,
    "/v1/completions": Task.COMPLETION,
    "/v1/embeddings": Task.EMBEDDING,
}
