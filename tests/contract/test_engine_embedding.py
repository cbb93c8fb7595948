"""Embeddings by vLLM's pooling engine and a small real model."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from schemas.failure import ErrorClass, Stage
from tests.contract.differences import differences
from tests.contract.engine_stage import EngineStage, chat, embedding, needs_vllm
from tests.contract.rivals import own_embeddings
from workers.endpoint import Endpoint
from workers.engines.choose import engine_for
from workers.errors import RequestRejected

pytestmark = [pytest.mark.vllm, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(800)]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineStage]:
    needs_vllm()
    endpoint = Endpoint("tiny", model="all-minilm-l6-v2", options={"max_model_len": 256})
    stage = EngineStage(engine_for(endpoint, tmp_path_factory.mktemp("engine")))
    yield stage
    stage.close()


def test_each_input_has_a_vector_of_length_one_and_likeness_shows(stage: EngineStage) -> None:
    answer = stage.ask(embedding(["a cat sleeps", "a kitten is asleep", "stock prices fell"]))
    cat, kitten, stocks = (item["embedding"] for item in answer.body["data"])
    assert [item["index"] for item in answer.body["data"]] == [0, 1, 2]
    assert len(cat) == 384
    assert sum(x * x for x in cat) == pytest.approx(1.0, abs=1e-3)
    assert _dot(cat, kitten) > _dot(cat, stocks) + 0.2
    assert answer.body["usage"]["prompt_tokens"] == answer.tokens.input > 0
    assert answer.first_token_s is None


def test_one_text_or_token_ids_are_one_input(stage: EngineStage) -> None:
    assert len(stage.ask(embedding("hello")).body["data"]) == 1
    assert stage.ask(embedding([101, 7592, 102])).tokens.input == 3


@pytest.mark.parametrize("words", [1_000, 20_000])
def test_an_input_beyond_the_model_is_too_long_and_another_task_is_invalid(
    stage: EngineStage, words: int
) -> None:
    with pytest.raises(RequestRejected) as caught:
        stage.ask(embedding("word " * words))
    failure = caught.value.failure
    assert (failure.error_class, failure.stage) == (ErrorClass.TOO_LONG, Stage.ENGINE)
    with pytest.raises(RequestRejected, match="embedding") as caught:
        stage.ask(chat())
    failure = caught.value.failure
    assert (failure.error_class, failure.stage) == (ErrorClass.INVALID, Stage.VALIDATE)


def test_a_vector_may_come_as_packed_numbers(stage: EngineStage) -> None:
    plain = stage.ask(embedding(["a cat", "x"])).body["data"]
    packed = stage.ask(embedding(["a cat", "x"], encoding_format="base64")).body["data"]
    for numbers, text in zip(plain, packed, strict=True):
        unpacked = struct.unpack("<384f", base64.b64decode(text["embedding"]))
        assert unpacked == pytest.approx(numbers["embedding"], abs=1e-6)


def test_another_size_is_invalid_for_a_model_of_one_size_and_the_next_input_is_answered(
    stage: EngineStage,
) -> None:
    with pytest.raises(RequestRejected) as caught:
        stage.ask(embedding("a cat", dimensions=7))
    assert caught.value.failure.error_class is ErrorClass.INVALID
    assert stage.ask(embedding("a cat"))


@pytest.mark.parametrize(
    "given", ["a cat", ["a cat", "stock prices fell"], [101, 7592, 102], [[101, 102], [7592]]]
)
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"encoding_format": "base64"},
        {"encoding_format": "base64", "endianness": "big"},
        {"encoding_format": "base64", "embed_dtype": "float16"},
        {"use_activation": False},
        {"truncate_prompt_tokens": 2, "truncation_side": "right"},
    ],
)
def test_embeddings_are_those_of_vllms_server(stage: EngineStage, given: Any, fields: dict[str, Any]) -> None:
    ours = stage.ask(embedding(given, **fields)).body
    theirs = own_embeddings(stage, {"model": "tiny", "input": given, **fields})
    assert theirs["usage"].pop("completion_tokens") == 0  # OpenAI's embeddings have none
    assert differences(_plain(ours, fields), _plain(theirs, fields)) == []


def _plain(body: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """With numbers where they come packed: inputs that are computed together differ in the last bit."""
    if fields.get("encoding_format") != "base64":
        return dict(body)
    form = (">" if fields.get("endianness") == "big" else "<") + (
        "384e" if fields.get("embed_dtype") == "float16" else "384f"
    )
    data = [
        {**item, "embedding": list(struct.unpack(form, base64.b64decode(item["embedding"])))}
        for item in body["data"]
    ]
    return {**body, "data": data}


def _dot(left: list[float], right: list[float]) -> float:
    return sum(x * y for x, y in zip(left, right, strict=True))
