"""What every engine keeps to: one suite for the simulated one and for vLLM with a small real model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from schemas.failure import ErrorClass, Stage
from tests.contract.engine_stage import (
    TOKENS_MAX,
    EngineStage,
    chat,
    completion,
    generating_endpoint,
    texts_of,
)
from workers.engines.choose import engine_for
from workers.errors import InvalidOutput, RequestRejected

# vLLM and torch warn as they are imported; their warnings are not ours.
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(800)]
VLLM = pytest.param("vllm", marks=pytest.mark.vllm)
only_vllm = pytest.mark.parametrize("stage", [VLLM], indirect=True)
TOOL = {
    "type": "function",
    "function": {
        "name": "set_hour",
        "parameters": {
            "type": "object",
            "properties": {"hour": {"type": "integer", "minimum": 0, "maximum": 23}},
            "required": ["hour"],
            "additionalProperties": False,
        },
    },
}
NAMED = {"type": "function", "function": {"name": "set_hour"}}
INVALID = (ErrorClass.INVALID, Stage.VALIDATE)
TOO_LONG = (ErrorClass.TOO_LONG, Stage.ENGINE)


@pytest.fixture(scope="module", params=["simulated", VLLM])
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineStage]:
    if request.param == "vllm":
        yield request.getfixturevalue("vllm_stage")
        return
    stage = EngineStage(engine_for(generating_endpoint("simulated"), tmp_path_factory.mktemp("engine")))
    yield stage
    stage.close()


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


def test_usage_counts_every_answer_also_where_all_are_the_same(stage: EngineStage) -> None:
    one, three = (stage.ask(chat(n=n, temperature=0.0)) for n in (1, 3))
    assert len(three.body["choices"]) == 3
    assert three.tokens.output == three.body["usage"]["completion_tokens"] == 3 * one.tokens.output
    assert three.tokens.input == one.tokens.input


def test_each_token_of_an_answer_has_its_logprob_and_the_likeliest_in_its_place(stage: EngineStage) -> None:
    answer = stage.ask(chat(logprobs=True, top_logprobs=2, temperature=0.0))
    told = answer.body["choices"][0]["logprobs"]["content"]
    assert len(told) == answer.tokens.output
    for token in told:
        assert token["logprob"] <= 0
        assert token["top_logprobs"][0]["token"] == token["token"]
        assert len(token["top_logprobs"]) == 2


def test_an_echo_begins_with_the_prompt_and_its_tokens(stage: EngineStage) -> None:
    answer = stage.ask(completion("The sea is", echo=True, logprobs=1, temperature=0.0))
    choice = answer.body["choices"][0]
    assert choice["text"].startswith("The sea is")
    assert len(choice["text"]) > len("The sea is")
    told = choice["logprobs"]
    assert len(told["tokens"]) == len(told["text_offset"]) == answer.tokens.input + answer.tokens.output
    assert told["token_logprobs"][0] is None
    assert all(logprob <= 0 for logprob in told["token_logprobs"][1:])


def test_each_token_of_a_prompt_but_the_first_has_its_logprob(stage: EngineStage) -> None:
    answer = stage.ask(completion("The sea is", prompt_logprobs=1))
    told = answer.body["choices"][0]["prompt_logprobs"]
    assert len(told) == answer.tokens.input
    assert told[0] is None
    assert all(told[1:])
    assert len(stage.ask(chat(prompt_logprobs=0)).body["prompt_logprobs"]) > 1


@pytest.mark.parametrize("prompts", [["The sea is", "The moon is"], [[504, 2953], [504, 1971]]])
def test_several_prompts_have_their_answers_in_order_and_are_all_counted(
    stage: EngineStage, prompts: Any
) -> None:
    both = stage.ask(completion(prompts, n=2, temperature=1.0, seed=3))
    assert [choice["index"] for choice in both.body["choices"]] == [0, 1, 2, 3]
    alone = [stage.ask(completion(prompt)).tokens.input for prompt in prompts]
    assert both.tokens.input == both.body["usage"]["prompt_tokens"] == sum(alone)


def test_token_ids_are_counted_as_they_are(stage: EngineStage) -> None:
    assert stage.ask(completion([1, 2, 3, 4])).tokens.input == 4


def test_a_prompt_without_text_is_invalid(stage: EngineStage) -> None:
    assert refusal(stage, completion("")) == INVALID


@pytest.mark.parametrize(("choice", "finish_reason"), [("required", "tool_calls"), (NAMED, "stop")])
def test_a_tool_that_must_be_called_is_called_with_valid_arguments(
    stage: EngineStage, choice: Any, finish_reason: str
) -> None:
    bounds: dict[str, Any] = {"parallel_tool_calls": False, "max_tokens": 60, "temperature": 0.0}
    answer = stage.ask(chat(tools=[TOOL], tool_choice=choice, **bounds))
    (found,) = answer.body["choices"]
    (call,) = found["message"]["tool_calls"]
    assert call["type"] == "function"
    assert call["id"]
    assert call["function"]["name"] == "set_hour"
    arguments = json.loads(call["function"]["arguments"])
    assert arguments.keys() == {"hour"}
    assert arguments["hour"] in range(24)
    assert found["finish_reason"] == finish_reason


def test_tools_that_may_not_be_called_are_not_called(stage: EngineStage) -> None:
    message = stage.ask(chat(tools=[TOOL], tool_choice="none")).body["choices"][0]["message"]
    assert "tool_calls" not in message
    assert message["content"]


@pytest.mark.parametrize("fields", [{"tool_choice": "auto"}, {}])
def test_a_model_without_a_tool_parser_is_not_left_to_choose(stage: EngineStage, fields: Any) -> None:
    with pytest.raises(RequestRejected, match=r"tool_choice.*tool_parser"):
        stage.ask(chat(tools=[TOOL], **fields))
    assert stage.ask(chat())


def test_tokens_are_told_by_their_ids_where_asked(stage: EngineStage) -> None:
    answer = stage.ask(chat(return_token_ids=True, logprobs=True, return_tokens_as_token_ids=True))
    choice = answer.body["choices"][0]
    assert len(answer.body["prompt_token_ids"]) == answer.tokens.input
    assert [f"token_id:{token}" for token in choice["token_ids"]] == [
        told["token"] for told in choice["logprobs"]["content"]
    ]


def test_an_answer_without_an_end_has_as_many_tokens_as_it_may(stage: EngineStage) -> None:
    answer = stage.ask(chat(ignore_eos=True, max_tokens=30))
    assert answer.tokens.output == 30
    assert answer.body["choices"][0]["finish_reason"] == "length"


def test_a_seed_fixes_the_answer(stage: EngineStage) -> None:
    first, again, other = (
        texts_of(stage.ask(chat(seed=seed, temperature=1.0, max_tokens=16))) for seed in (5, 5, 6)
    )
    assert first == again != other


def test_a_stop_text_ends_the_answer_before_it(stage: EngineStage) -> None:
    whole = texts_of(stage.ask(chat(temperature=0.0, max_tokens=30)))[0]
    stop = whole[len(whole) // 2 : len(whole) // 2 + 4]
    answer = stage.ask(chat(temperature=0.0, max_tokens=30, stop=[stop]))
    assert texts_of(answer)[0] == whole[: whole.index(stop)]
    assert answer.body["choices"][0]["finish_reason"] == "stop"


def test_max_tokens_beyond_the_room_is_lowered_and_said(stage: EngineStage) -> None:
    answer = stage.ask(chat(max_tokens=2**31 - 1, temperature=0.0, stop=["e"]))
    assert answer.clamped == {"max_tokens": TOKENS_MAX - answer.tokens.input}


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
def test_tokens_that_the_model_does_not_have_are_invalid(stage: EngineStage) -> None:
    assert refusal(stage, completion([10**9])) == INVALID
    assert refusal(stage, chat(allowed_token_ids=[10**9])) == INVALID
    assert refusal(stage, chat(logit_bias={str(10**9): 1.0})) == INVALID
    assert stage.ask(chat())


@only_vllm
def test_a_seed_too_large_is_invalid(stage: EngineStage) -> None:
    assert refusal(stage, chat(seed=2**63 - 1)) == INVALID


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
