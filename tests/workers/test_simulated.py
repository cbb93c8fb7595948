"""What the simulated engine makes up, and how it fails on demand."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.bodies import ChatBody, EmbeddingBody, WholeMessage
from schemas.failure import ErrorClass, Stage
from schemas.request import Body, Request, Task
from tests.workers.stage import QUICK, call, chat, engine_call, finish, running, simulated
from workers.endpoint import SimulatedTimes
from workers.engines.base import Answer
from workers.engines.sample import sample
from workers.engines.simulated import SimulatedEngine, expected_answer
from workers.engines.simulated_faults import Faults, parse_faults
from workers.errors import RequestRejected

SCHEMAS = [
    {"type": "object", "properties": {"a": {"type": "string", "minLength": 3}}, "required": ["a"]},
    {"type": "array", "items": {"type": "integer", "minimum": 5, "multipleOf": 4}, "minItems": 2},
    {"enum": ["x", "y"]},
    {"const": {"k": [1]}},
    {"anyOf": [{"type": "null"}, {"type": "string"}]},
    {"type": ["boolean", "null"]},
    {
        "$ref": "#/$defs/point",
        "$defs": {"point": {"type": "object", "properties": {"x": {"type": "number"}}}},
    },
    {"type": "number", "exclusiveMinimum": 1, "maximum": 3},
    {"type": "integer", "maximum": -4},
    {"properties": {"contains": {"type": "integer"}}, "required": ["contains"]},
]


def text_of(answer: Answer) -> str:
    text: str = answer.body["choices"][0]["message"]["content"]
    return text


def answer_to(request: Request) -> Answer:
    answer = simulated().submit(engine_call(request))
    assert isinstance(answer, Answer)
    return answer


@given(st.text(), st.integers(1, 8), st.integers(1, 1_000))
def test_the_answer_is_a_pure_function_of_the_request(text: str, n: int, max_tokens: int) -> None:
    request = chat(text, n=n, max_tokens=max_tokens)
    assert answer_to(request).body == expected_answer(request)
    assert len(expected_answer(request)["choices"]) == n


def test_other_prompts_have_other_answers() -> None:
    assert len({text_of(answer_to(chat(f"prompt {number}"))) for number in range(100)}) == 100


def test_one_of_the_choices_is_chosen_and_each_may_be() -> None:
    chosen = {
        text_of(answer_to(chat(f"p{n}", structured_outputs={"choice": ["yes", "no"]}))) for n in range(50)
    }
    assert chosen == {"yes", "no"}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_json_answers_meet_their_schema(schema: dict[str, object]) -> None:
    format_ = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    value = json.loads(text_of(answer_to(chat(response_format=format_))))
    jsonschema.validate(value, schema)


def test_a_schema_that_refers_to_itself_ends() -> None:
    sample({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]})


def test_embeddings_have_length_one_and_one_place_per_input() -> None:
    body = expected_answer(Request(Task.EMBEDDING, Body(model="sim", input=["a", "b"])))
    assert [item["index"] for item in body["data"]] == [0, 1]
    for item in body["data"]:
        assert sum(x * x for x in item["embedding"]) == pytest.approx(1.0)


def test_an_answer_has_as_many_bytes_as_asked_for() -> None:
    assert len(text_of(answer_to(chat(simulate="answer_bytes:100000")))) == 100_000


def test_no_bound_of_the_request_cuts_an_answer_whose_size_is_asked_for() -> None:
    sized = chat(simulate="answer_bytes:100000", max_tokens=8)
    assert len(text_of(answer_to(sized))) == 100_000


def test_time_is_prefill_and_decode() -> None:
    engine = SimulatedEngine(SimulatedTimes(prefill_tokens_per_s=1_000, decode_tokens_per_s=100))
    one = call(0)
    tokens = expected_answer(one.request)["usage"]
    with running(engine) as runner:
        ended = finish(runner, [one])[one.id]
    assert ended.first_token_ms is not None
    assert ended.first_token_ms - ended.started_ms >= tokens["prompt_tokens"] - 2
    assert ended.done_ms - ended.started_ms >= tokens["prompt_tokens"] + 10 * tokens["completion_tokens"] - 2


def test_a_prompt_beyond_the_models_length_is_too_long() -> None:
    engine = SimulatedEngine(SimulatedTimes(), {"max_model_len": 20})
    with pytest.raises(RequestRejected) as caught:
        engine.submit(engine_call(chat("word " * 100)))
    failure = caught.value.failure
    assert (failure.error_class, failure.stage) == (ErrorClass.TOO_LONG, Stage.ENGINE)


def test_directives_are_read_as_written() -> None:
    assert parse_faults(" sleep:0.5, transient:2 ,kill_process") == Faults(
        sleep=0.5, transient=2, kill_process=True
    )


@pytest.mark.parametrize("text", ["jump", "sleep:soon", "transient:-1", "sleep:1e9", "answer_bytes:1.5"])
def test_a_directive_that_cannot_be_read_is_refused_by_name(text: str) -> None:
    with pytest.raises(RequestRejected, match=r"metadata\.simulate"):
        parse_faults(text)


def test_a_hang_holds_every_call_until_the_engine_is_stopped() -> None:
    with running(simulated(), type(QUICK)(stall_s=60.0)) as runner:
        runner.submit([call(0, chat(simulate="hang")), call(1)])
        assert not runner.wait(0.2)
        assert runner.running == 2


def test_a_body_with_seldom_fields_unset_has_the_plain_answer() -> None:
    plain = chat("hello", n=2, max_tokens=9, stop=["zzz"])
    fields = {name: getattr(plain.body, name) for name in plain.body.__struct_fields__}
    whole = Request(Task.CHAT, ChatBody(**fields))
    assert expected_answer(whole) == expected_answer(plain)


def test_an_answer_that_its_bound_cuts_has_as_many_tokens_and_says_so() -> None:
    body = expected_answer(chat(max_tokens=3))
    assert body["usage"]["completion_tokens"] == 3
    assert body["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_arguments_of_a_call_meet_the_schema_of_its_tool(schema: dict[str, object]) -> None:
    tools = [{"type": "function", "function": {"name": name, "parameters": schema}} for name in ("a", "b")]
    named = {"type": "function", "function": {"name": "b"}}
    for choice, name in (("required", "a"), (named, "b")):
        message = expected_answer(seldom(tools=tools, tool_choice=choice))["choices"][0]["message"]
        (call,) = message["tool_calls"]
        assert call["function"]["name"] == name
        jsonschema.validate(json.loads(call["function"]["arguments"]), schema)


def test_a_tool_may_be_left_to_choose_where_the_endpoint_has_a_parser() -> None:
    tools = [{"type": "function", "function": {"name": "a"}}]
    request = seldom(tools=tools, tool_choice="auto")
    with pytest.raises(RequestRejected, match="tool_parser"):
        simulated().submit(engine_call(request))
    engine = SimulatedEngine(SimulatedTimes(), chooses_tools=True)
    answer = engine.submit(engine_call(request))
    assert isinstance(answer, Answer)
    assert "tool_calls" not in answer.body["choices"][0]["message"]


def test_vectors_have_the_size_and_the_form_that_is_asked_for() -> None:
    def vectors(**fields: Any) -> Any:
        body = EmbeddingBody(model="sim", input=["a", [1, 2]], **fields)
        return [item["embedding"] for item in expected_answer(Request(Task.EMBEDDING, body))["data"]]

    plain = vectors(dimensions=11)
    assert [len(vector) for vector in plain] == [11, 11]
    for form, fields in (
        ("<11f", {}),
        (">11f", {"endianness": "big"}),
        ("<11e", {"embed_dtype": "float16", "endianness": "little"}),
    ):
        packed = vectors(dimensions=11, encoding_format="base64", **fields)
        for numbers, text in zip(plain, packed, strict=True):
            assert struct.unpack(form, base64.b64decode(text)) == pytest.approx(numbers, abs=1e-3)
    with pytest.raises(RequestRejected, match="embed_dtype"):
        vectors(encoding_format="base64", embed_dtype="bfloat16")


def test_the_last_message_is_told_again_where_the_answer_goes_on_with_it() -> None:
    messages = [WholeMessage("user", "Well?"), WholeMessage("assistant", "It is")]
    for echo, start in ((True, "It is"), (False, "answer")):
        request = Request(Task.CHAT, ChatBody(model="sim", messages=messages, echo=echo))
        assert expected_answer(request)["choices"][0]["message"]["content"].startswith(start)


def test_an_answer_is_at_least_as_long_as_asked_for() -> None:
    assert expected_answer(seldom(min_tokens=40))["usage"]["completion_tokens"] >= 40


def test_a_truncated_prompt_counts_its_rest() -> None:
    assert expected_answer(seldom("word " * 50, truncate_prompt_tokens=7))["usage"]["prompt_tokens"] == 7


def seldom(text: str = "hello", **fields: Any) -> Request:
    return Request(Task.CHAT, ChatBody(model="sim", messages=[WholeMessage("user", text)], **fields))
