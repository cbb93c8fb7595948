"""What is asked of an endpoint; the url of the request line says which."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Task(StrEnum):
    """One of three."""

    CHAT = "chat"
    COMPLETION = "completion"
    EMBEDDING = "embedding"


CHAT_URL: Final = "/v1/chat/completions"
COMPLETION_URL: Final = "/v1/completions"
EMBEDDING_URL: Final = "/v1/embeddings"
TASK_OF_URL: Final[dict[str, Task]] = {
    CHAT_URL: Task.CHAT,
    COMPLETION_URL: Task.COMPLETION,
    EMBEDDING_URL: Task.EMBEDDING,
}
