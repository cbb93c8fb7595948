"""What every engine keeps to: one suite for the simulated one and for vLLM with a tiny random model.

vLLM starts once for the whole file; the last tests kill it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from schemas.failure import ErrorClass, Stage
from tests.contract.engine_stage import EngineStage, chat, completion, texts_of
from tests.walks import children_called
from workers.endpoint import Endpoint
from workers.engines.choose import engine_for
from workers.errors import EngineDead, InvalidOutput, RequestRejected
from workers.models import cache_folder
from workers.tiny_model import tiny_model

# vLLM and torch warn as they are imported; their warnings are not ours.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(800)]
VLLM = pytest.param("vllm", marks=pytest.mark.vllm)
only_vllm = pytest.mark.parametrize("stage", [VLLM], indirect=True)
TOKENS_MAX = 256
INVALID = (ErrorClass.INVALID, Stage.VALIDATE)
TOO_LONG = (ErrorClass.TOO_LONG, Stage.ENGINE)


@pytest.fixture(scope="module", params=["simulated", VLLM])
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineStage]:
    stage = EngineStage(engine_for(_endpoint(request.param), tmp_path_factory.mktemp("engine")))
    yield stage
    stage.close()


def _endpoint(name: str) -> Endpoint:
    if name == "simulated":
        return Endpoint("tiny", engine="simulated", options={"max_model_len": TOKENS_MAX})
    if importlib.util.find_spec("vllm") is None and not os.environ.get("CI"):
        pytest.skip("vLLM is not installed")
    options = {"max_model_len": TOKENS_MAX, "dtype": "float32", "kv_cache_memory_bytes": 64 * 1024**2}
    return Endpoint("tiny", model=str(tiny_model(cache_folder(os.environ))), slots=8, options=options)


def refusal(stage: EngineStage, request: Any) -> tuple[ErrorClass, Stage]:
    with pytest.raises(RequestRejected) as caught:
        stage.ask(request)
    return caught.value.failure.error_class, caught.value.failure.stage


@pytest.mark.parametrize("request_", [chat(), completion("Once upon a time")])
def test_an_answer_has_the_form_of_openais_and_counts_its_tokens(stage: EngineStage, request_: Any) -> None:
    answer = stage.ask(request_)
    usage = answer.body["usage"]
    assert answer.body["model"] == "tiny"
    assert usage["prompt_tokens"] == answer.tokens.input > 0
    assert usage["completion_tokens"] == answer.tokens.output > 0
    assert usage["total_tokens"] == answer.tokens.input + answer.tokens.output
    assert answer.body["choices"][0]["finish_reason"] in ("stop", "length")
    assert texts_of(answer)[0]
    assert answer.first_token_s is not None
    json.dumps(answer.body)


def test_the_same_request_at_temperature_zero_has_the_same_answer(stage: EngineStage) -> None:
    assert texts_of(stage.ask(chat(temperature=0.0))) == texts_of(stage.ask(chat(temperature=0.0)))


def test_many_requests_at_once_are_all_answered(stage: EngineStage) -> None:
    begun = [stage.begin(chat(f"Number {number}?")) for number in range(40)]
    assert len({future.result(120).body["id"] for future in begun}) == 40


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_n_answers_are_given(stage: EngineStage, temperature: float) -> None:
    answer = stage.ask(chat(n=3, temperature=temperature))
    assert [choice["index"] for choice in answer.body["choices"]] == [0, 1, 2]


def test_a_choice_is_one_of_the_choices(stage: EngineStage) -> None:
    assert texts_of(stage.ask(chat(structured_outputs={"choice": ["red", "green"]})))[0] in ("red", "green")


def test_json_meets_its_schema(stage: EngineStage) -> None:
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
        "required": ["ok"],
        "additionalProperties": False,
    }
    format_ = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    answer = stage.ask(chat(response_format=format_, max_tokens=100, temperature=0.0))
    assert set(json.loads(texts_of(answer)[0])) == {"ok"}


@pytest.mark.parametrize(
    "structure",
    [{"regex": "((("}, {"grammar": "root ::= missing"}, {"json": {"type": 12}}, {"choice": []}],
)
def test_a_structure_that_is_none_is_invalid_and_the_next_request_is_answered(
    stage: EngineStage, structure: dict[str, Any]
) -> None:
    assert refusal(stage, chat(structured_outputs=structure)) == INVALID
    assert stage.ask(chat())


@pytest.mark.parametrize("words", [2_000, 20_000])
def test_a_prompt_beyond_the_model_is_too_long(stage: EngineStage, words: int) -> None:
    assert refusal(stage, chat("word " * words)) == TOO_LONG


def test_a_cancelled_call_harms_no_other(stage: EngineStage) -> None:
    begun = [stage.begin(chat(f"Number {number}?", max_tokens=100)) for number in range(8)]
    for future in begun[::2]:
        future.cancel()
    assert all(future.result(120) for future in begun[1::2])


def test_stop_may_be_asked_for_twice_and_steps_are_counted(stage: EngineStage) -> None:
    before = stage.steps()
    stage.ask(chat())
    assert stage.steps() > before


@only_vllm
def test_a_prompt_may_be_token_ids(stage: EngineStage) -> None:
    answer = stage.ask(completion([1, 2, 3, 4]))
    assert answer.tokens.input == 4
    assert refusal(stage, completion([10**9])) == INVALID


@only_vllm
def test_a_seed_fixes_the_answer_and_a_seed_too_large_is_invalid(stage: EngineStage) -> None:
    first, again, other = (
        texts_of(stage.ask(chat(seed=seed, temperature=1.0, max_tokens=16))) for seed in (5, 5, 6)
    )
    assert first == again != other
    assert refusal(stage, chat(seed=2**63 - 1)) == INVALID


@only_vllm
def test_a_stop_text_ends_the_answer_before_it(stage: EngineStage) -> None:
    whole = texts_of(stage.ask(chat(temperature=0.0, max_tokens=30)))[0]
    stop = whole[len(whole) // 2 : len(whole) // 2 + 4]
    answer = stage.ask(chat(temperature=0.0, max_tokens=30, stop=[stop]))
    assert texts_of(answer)[0] == whole[: whole.index(stop)]
    assert answer.body["choices"][0]["finish_reason"] == "stop"


@only_vllm
def test_max_tokens_beyond_the_room_is_lowered_and_said(stage: EngineStage) -> None:
    answer = stage.ask(chat(max_tokens=2**31 - 1, temperature=0.0, stop=["e"]))
    assert answer.clamped == {"max_tokens": TOKENS_MAX - answer.tokens.input}


@only_vllm
def test_regex_and_grammar_shape_the_answer(stage: EngineStage) -> None:
    assert re.fullmatch(r"[0-9]{3}", texts_of(stage.ask(chat(structured_outputs={"regex": "[0-9]{3}"})))[0])
    grammar = {"grammar": 'root ::= "left" | "right"'}
    assert texts_of(stage.ask(chat(structured_outputs=grammar)))[0] in ("left", "right")


@only_vllm
def test_an_answer_cut_inside_its_structure_is_an_invalid_output_with_its_tokens(stage: EngineStage) -> None:
    with pytest.raises(InvalidOutput) as caught:
        stage.ask(chat(structured_outputs={"regex": "[0-9]{50}"}, max_tokens=3))
    assert caught.value.tokens.output == 3


@only_vllm
def test_what_the_compiler_cannot_enforce_is_judged_afterwards(stage: EngineStage) -> None:
    schema = {"type": "array", "items": {"enum": [1]}, "minItems": 2, "maxItems": 2, "uniqueItems": True}
    with pytest.raises(InvalidOutput, match="non-unique"):
        stage.ask(chat(structured_outputs={"json": schema}, max_tokens=60, temperature=0.0))


@only_vllm
def test_a_tenant_never_hits_anothers_cache(stage: EngineStage) -> None:
    prompt = chat("A prefix of many words that fills more than a block of the cache. " * 5)
    stage.ask(prompt, tenant="one")
    assert stage.ask(prompt, tenant="one").tokens.cached > 0
    assert stage.ask(prompt, tenant="two").tokens.cached == 0


@only_vllm
def test_odd_but_good_messages_are_answered(stage: EngineStage) -> None:
    for text in ("", "\U0001f600\u0000\uffff \u202e" * 3):
        assert stage.ask(chat(text))


@only_vllm
def test_at_the_end_a_stopped_engine_makes_no_step_and_a_killed_one_is_dead(stage: EngineStage) -> None:
    core = children_called("EngineCor")[0]
    begun = stage.begin(chat(max_tokens=200, temperature=0.0))
    os.kill(core.pid, signal.SIGSTOP)
    late = stage.begin(chat())  # the first may have ended before the signal, this one cannot
    deadline = time.monotonic() + 60
    while not _makes_no_step(stage):  # steps that it had made may still be on their way to us
        assert time.monotonic() < deadline
    os.kill(core.pid, signal.SIGKILL)
    with pytest.raises(EngineDead):
        late.result(60)
    assert isinstance(begun.exception(60), EngineDead | None)
    with pytest.raises(EngineDead):
        stage.steps()


def _makes_no_step(stage: EngineStage) -> bool:
    before = stage.steps()
    time.sleep(1.0)
    return stage.steps() == before
