"""Every field of OpenAI's requests, as the installed package has them, is honoured, refused or named."""

from __future__ import annotations

import importlib.util
import os
from typing import TypedDict

import pytest

from schemas.fields.bodies import CHAT, COMPLETION, EMBEDDING
from tests.schemas.field_walk import undecided

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("openai") is None and not os.environ.get("CI"), reason="openai is not installed"
)


def test_every_field_of_a_chat_has_a_fate() -> None:
    from openai.types.chat import completion_create_params as params  # noqa: PLC0415

    for kind in (params.CompletionCreateParamsNonStreaming, params.CompletionCreateParamsStreaming):
        assert undecided(kind, CHAT, "$.body") == []


def test_every_field_of_a_completion_has_a_fate() -> None:
    from openai.types import completion_create_params as params  # noqa: PLC0415

    for kind in (params.CompletionCreateParamsNonStreaming, params.CompletionCreateParamsStreaming):
        assert undecided(kind, COMPLETION, "$.body") == []


def test_every_field_of_an_embedding_has_a_fate() -> None:
    from openai.types import EmbeddingCreateParams  # noqa: PLC0415

    assert undecided(EmbeddingCreateParams, EMBEDDING, "$.body") == []


class NewFunction(TypedDict):
    """A function with a field of tomorrow."""

    name: str
    tomorrow: int


class NewTool(TypedDict):
    """A tool with such a function."""

    function: NewFunction


class NewChat(TypedDict):
    """A chat with such a tool, and a field of tomorrow itself."""

    tools: list[NewTool] | None
    later: str


def test_a_new_field_at_any_level_is_found() -> None:
    assert undecided(NewChat, CHAT, "$.body") == [
        "$.body.tools.function.tomorrow (NewFunction as a function)",
        "$.body.later (NewChat as a chat body)",
    ]
