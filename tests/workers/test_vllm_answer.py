"""Answers by vLLM's builders and the endpoint's own parsers, from outputs that a test makes up."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from schemas.decode import Decoder
from tests.workers.stage import engine_call
from tests.workers.vllm_stage import TOKENS_MAX, idle_engine, needs_vllm, renderer, settings
from workers.endpoint import Endpoint
from workers.errors import EngineRefused, InvalidOutput, RequestRejected, TransientEngineError
from workers.structured.structure import Kind, Structure

pytestmark = [pytest.mark.vllm, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(600)]
TOOL = {"type": "function", "function": {"name": "tide", "parameters": {"type": "object"}}}
CALL = '<tool_call>{"name": "tide", "arguments": {"at": "Brest"}}</tool_call>'
ENDPOINTS = {
    "plain": Endpoint("tiny"),
    "tools": Endpoint("tiny", tool_parser="hermes"),
    "reasoning": Endpoint("tiny", reasoning_parser="granite"),
}


def output(*texts: str, finish_reason: str | None = "stop") -> Any:
    from vllm.outputs import CompletionOutput, RequestOutput  # noqa: PLC0415

    outputs = [
        CompletionOutput(index, text, [5, 6, 7], None, None, finish_reason=finish_reason)
        for index, text in enumerate(texts)
    ]
    return RequestOutput("1", "prompt", [1, 2], None, outputs, finished=True)


def chat_body(kind: str, text: str, **body: Any) -> dict[str, Any]:
    """What becomes of `text` as the model's answer to a chat with these fields."""
    from workers.engines.vllm_answer import Answers  # noqa: PLC0415
    from workers.engines.vllm_parsers import parsers_of  # noqa: PLC0415
    from workers.engines.vllm_rendering import Rendering  # noqa: PLC0415
    from workers.engines.vllm_request import asked_of  # noqa: PLC0415

    parsers = parsers_of(ENDPOINTS[kind])
    answers = Answers(idle_engine(), parsers)
    messages = [{"role": "user", "content": "How high is the tide?"}]
    line = {"url": "/v1/chat/completions", "body": {"model": "tiny", "messages": messages, **body}}
    request = Decoder().decode(json.dumps(line).encode())

    async def answered() -> dict[str, Any]:
        asked = asked_of(request, TOKENS_MAX, {})
        parser = answers.parser_of(asked)
        conversation, _ = await Rendering(settings().model_config, renderer(), parsers).chat(asked)
        return await answers.chat(engine_call(request), asked, parser, conversation, output(text))

    needs_vllm()
    return asyncio.run(answered())


def test_a_chosen_tool_is_found_by_the_endpoints_parser() -> None:
    (choice,) = chat_body("tools", CALL, tools=[TOOL])["choices"]
    (call,) = choice["message"]["tool_calls"]
    assert call["function"] == {"name": "tide", "arguments": '{"at": "Brest"}'}
    assert choice["message"]["content"] is None
    assert choice["finish_reason"] == "tool_calls"


def test_where_no_tool_was_chosen_the_answer_is_text() -> None:
    (choice,) = chat_body("tools", "About four metres.", tools=[TOOL], tool_choice="auto")["choices"]
    assert choice["message"]["content"] == "About four metres."
    assert "tool_calls" not in choice["message"]
    assert choice["finish_reason"] == "stop"


def test_what_looks_like_a_call_is_text_where_none_may_be_made() -> None:
    (choice,) = chat_body("tools", CALL, tools=[TOOL], tool_choice="none")["choices"]
    assert choice["message"]["content"] == CALL


def test_without_a_parser_a_choice_is_refused_and_forced_calls_are_read() -> None:
    with pytest.raises(RequestRejected, match="tool_parser"):
        chat_body("plain", CALL, tools=[TOOL])
    forced = '[{"name": "tide", "parameters": {"at": "Brest"}}]'
    (choice,) = chat_body("plain", forced, tools=[TOOL], tool_choice="required")["choices"]
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == '{"at": "Brest"}'


def test_reasoning_is_told_from_the_answer_by_the_endpoints_parser() -> None:
    text = "Here is my thought process: water moves. Here is my response: four metres."
    body = chat_body("reasoning", text)
    message = body["choices"][0]["message"]
    assert message["reasoning"].strip() == "water moves."
    assert message["content"].strip() == "four metres."
    assert "reasoning_tokens" in body["usage"]["completion_tokens_details"]


def test_reasoning_may_be_left_out() -> None:
    text = "Here is my thought process: water moves. Here is my response: four metres."
    assert chat_body("reasoning", text, include_reasoning=False)["choices"][0]["message"]["reasoning"] is None


@pytest.mark.parametrize(("key", "name"), [("tool_parser", "hermess"), ("reasoning_parser", "qwen33")])
def test_a_parser_that_vllm_does_not_have_is_refused_with_near_names(key: str, name: str) -> None:
    needs_vllm()
    from workers.engines.vllm_parsers import parsers_of  # noqa: PLC0415

    with pytest.raises(EngineRefused, match=rf"endpoints\.tiny\.{key}.*{name}.*{name[:-1]}"):
        parsers_of(Endpoint("tiny", **{key: name}))  # type: ignore[arg-type]


def test_greedy_answers_are_repeated_and_each_is_counted() -> None:
    needs_vllm()
    from workers.engines.vllm_answer import repeated, tokens_of  # noqa: PLC0415

    three = repeated(output("yes"), 3)
    assert [(one.index, one.text) for one in three.outputs] == [(0, "yes"), (1, "yes"), (2, "yes")]
    assert tokens_of([three]).output == 9


@pytest.mark.parametrize("finish_reason", ["abort", "error", None])
def test_an_answer_that_did_not_end_by_itself_is_not_given(finish_reason: str | None) -> None:
    needs_vllm()
    from workers.engines.vllm_answer import check_ends  # noqa: PLC0415

    with pytest.raises(TransientEngineError):
        check_ends([output("x", finish_reason=finish_reason)], None, forced=False)


def test_text_beside_calls_may_be_cut_and_a_structure_or_a_forced_call_may_not() -> None:
    needs_vllm()
    from workers.engines.vllm_answer import check_ends  # noqa: PLC0415

    cut = [output("x", finish_reason="length")]
    tag = Structure(Kind.STRUCTURAL_TAG, "{}")
    check_ends(cut, None, forced=False)
    check_ends(cut, tag, forced=False)
    for structure, forced in ((tag, True), (Structure(Kind.REGEX, "x+"), False)):
        with pytest.raises(InvalidOutput):
            check_ends(cut, structure, forced=forced)
