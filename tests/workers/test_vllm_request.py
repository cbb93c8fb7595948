"""From our requests to vLLM's: what is lowered, what is left out, what is refused and with which words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schemas.bodies import ChatBody, WholeMessage
from schemas.decode import Decoder
from schemas.failure import ErrorClass, Stage
from schemas.request import Request, Task
from tests.workers.vllm_stage import needs_vllm
from workers.errors import RequestRejected

pytestmark = [pytest.mark.vllm, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(600)]
URLS = {"messages": "chat/completions", "prompt": "completions", "input": "embeddings"}
CHAT: dict[str, Any] = {"messages": [{"role": "user", "content": "Name a colour."}]}


def request(**body: Any) -> Request:
    url = next(url for field, url in URLS.items() if field in body)
    return Decoder().decode(json.dumps({"url": f"/v1/{url}", "body": {"model": "tiny", **body}}).encode())


def asked(tokens_max: int = 100, defaults: dict[str, Any] | None = None, **body: Any) -> Any:
    needs_vllm()
    from workers.engines.vllm_request import asked_of  # noqa: PLC0415

    return asked_of(request(**body), tokens_max, defaults or {})


def refused(**body: Any) -> tuple[ErrorClass, Stage, str]:
    with pytest.raises(RequestRejected) as caught:
        asked(**body)
    failure = caught.value.failure
    return failure.error_class, failure.stage, failure.message


def test_what_is_said_is_handed_over_and_nothing_else() -> None:
    model = asked(
        **CHAT, top_k=3, seed=5, metadata={"a": "b"}, prompt_cache_key="k", service_tier="batch"
    ).model
    assert (model.top_k, model.seed) == (3, 5)
    assert model.model_fields_set == {"model", "messages", "top_k", "seed"}


def test_more_tokens_than_the_model_takes_are_lowered() -> None:
    assert asked(**CHAT, max_tokens=2**31 - 1).model.max_tokens == 100
    assert asked(prompt="x", max_completion_tokens=500).model.max_tokens == 100


def test_a_greedy_request_is_computed_once_for_all_its_answers() -> None:
    for found in (asked(**CHAT, n=4, temperature=0), asked(100, {"temperature": 0.0}, **CHAT, n=4)):
        assert (found.copies, found.model.n) == (4, 1)
    found = asked(**CHAT, n=4, temperature=0.5)
    assert (found.copies, found.model.n) == (1, 4)


def test_token_ids_beyond_the_model_are_too_long_before_anything_is_done_with_them() -> None:
    bodies: list[dict[str, Any]] = [
        {"prompt": [1] * 101},
        {"prompt": [[1], [1] * 101]},
        {"input": [[1] * 101]},
    ]
    for body in bodies:
        error_class, stage, message = refused(**body)
        assert (error_class, stage) == (ErrorClass.TOO_LONG, Stage.ENGINE)
        assert "101 token ids" in message


def test_a_seed_that_cannot_count_up_is_invalid() -> None:
    error_class, stage, message = refused(**CHAT, seed=2**63 - 1)
    assert (error_class, stage) == (ErrorClass.INVALID, Stage.VALIDATE)
    assert message.startswith("$.body.seed")


def test_what_vllms_models_refuse_is_invalid_and_named() -> None:
    needs_vllm()
    from workers.engines.vllm_request import asked_of  # noqa: PLC0415

    body = ChatBody(
        model="tiny", messages=[WholeMessage("user", "x")], repetition_detection={"max_pattern_size": "many"}
    )
    with pytest.raises(RequestRejected) as caught:
        asked_of(Request(Task.CHAT, body), 100, {})
    assert caught.value.failure.error_class is ErrorClass.INVALID
    assert caught.value.failure.message.startswith("$.body.repetition_detection")


def test_a_schema_may_be_nameless() -> None:
    format_ = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    assert asked(**CHAT, response_format=format_).model.response_format.json_schema.json_schema == {
        "type": "object"
    }


def test_how_long_a_request_takes_to_render_is_told_by_its_texts_and_tokens() -> None:
    from workers.engines.vllm_request import weight_of  # noqa: PLC0415

    assert weight_of({"messages": [{"role": "user", "content": "four"}], "n": 1}) == 9
    assert weight_of({"prompt": [1, 2, 3]}) == 3
    assert weight_of({"input": ["one", "four"]}) == 7
    assert weight_of([[1, 2], [3]]) == 3
