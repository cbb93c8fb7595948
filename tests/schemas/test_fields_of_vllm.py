"""Every field of vLLM's own requests, as it is installed, is honoured, refused or named."""

from __future__ import annotations

import importlib.util
import os
from typing import get_args

import pytest

from schemas.fields.bodies import CHAT, COMPLETION, EMBEDDING
from tests.schemas.field_walk import classes_in, undecided

# Its import takes half a minute on a busy machine.
pytestmark = [
    pytest.mark.vllm,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(
        importlib.util.find_spec("vllm") is None and not os.environ.get("CI"), reason="vLLM is not installed"
    ),
]


def test_every_field_of_a_chat_has_a_fate() -> None:
    from vllm.entrypoints.openai.chat_completion import protocol  # noqa: PLC0415

    for kind in (protocol.ChatCompletionRequest, protocol.BatchChatCompletionRequest):
        assert undecided(kind, CHAT, "$.body") == []


def test_every_field_of_a_completion_has_a_fate() -> None:
    from vllm.entrypoints.openai.completion.protocol import CompletionRequest  # noqa: PLC0415

    assert undecided(CompletionRequest, COMPLETION, "$.body") == []


def test_every_field_of_an_embedding_has_a_fate() -> None:
    from vllm.entrypoints.pooling.embed.protocol import EmbeddingRequest  # noqa: PLC0415

    kinds = list(classes_in(get_args(EmbeddingRequest)[0]))
    assert len(kinds) >= 5
    for kind in kinds:
        assert undecided(kind, EMBEDDING, "$.body") == []


def test_every_kind_of_part_that_it_reads_is_taken_or_refused() -> None:
    from vllm.renderers.chat_utils import MM_PARSER_MAP, TEXT_PART_TYPES  # noqa: PLC0415

    from schemas.fields.messages import PART_OF, REFUSED_PARTS  # noqa: PLC0415

    assert set(MM_PARSER_MAP) <= {*PART_OF, *REFUSED_PARTS}
    assert set(TEXT_PART_TYPES) <= set(PART_OF)
