"""Embeddings by vLLM's pooling engine and a small real model."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator

import pytest

from schemas.failure import ErrorClass, Stage
from tests.contract.engine_stage import EngineStage, chat, embedding
from workers.endpoint import Endpoint
from workers.engines.choose import engine_for
from workers.errors import RequestRejected

pytestmark = [pytest.mark.vllm, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(800)]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineStage]:
    if importlib.util.find_spec("vllm") is None and not os.environ.get("CI"):
        pytest.skip("vLLM is not installed")
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


def _dot(left: list[float], right: list[float]) -> float:
    return sum(x * y for x, y in zip(left, right, strict=True))
