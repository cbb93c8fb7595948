"""Token ids as vLLM's own front end renders them and as ours does, over templates, roles, parts, tools and histories."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from schemas.bodies import ChatBody, WholeMessage
from schemas.decode import Decoder
from schemas.errors import SchemasError
from schemas.failure import ErrorClass
from schemas.request import Request, Task
from tests.workers.vllm_stage import TEMPLATES, TOKENS_MAX, needs_vllm, renderer, settings
from workers.endpoint import Endpoint
from workers.errors import RequestRejected

pytestmark = [pytest.mark.vllm, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(600)]
USER = {"role": "user", "content": "How high is the tide?"}
TOOL = {
    "type": "function",
    "function": {
        "name": "tide",
        "description": "Height of the tide",
        "parameters": {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]},
    },
}
NAMED = {"type": "function", "function": {"name": "tide"}}


def called(arguments: Any, content: Any = None) -> list[dict[str, Any]]:
    """A question, the call that it led to, and what came of that."""
    call = {"id": "call_1", "type": "function", "function": {"name": "tide", "arguments": arguments}}
    return [
        USER,
        {"role": "assistant", "content": content, "tool_calls": [call, {**call, "id": "call_2"}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "4.2 m"},
        {"role": "user", "content": "Is that high?"},
    ]


def parts(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


MESSAGES: dict[str, list[dict[str, Any]]] = {
    "user": [USER],
    "system": [{"role": "system", "content": "Be terse."}, USER],
    "developer": [{"role": "developer", "content": "Be terse."}, USER],
    "system and developer": [
        {"role": "system", "content": "One."},
        {"role": "developer", "content": "Two."},
        USER,
    ],
    "developer late": [
        USER,
        {"role": "assistant", "content": "Yes."},
        {"role": "developer", "content": "No."},
    ],
    "tool": [USER, {"role": "tool", "tool_call_id": "x", "content": "4.2 m"}],
    "names": [{**USER, "name": "ann"}, {"role": "assistant", "content": "Hm.", "name": "bot"}, USER],
    "assistant without content": [USER, {"role": "assistant", "content": None}, USER],
    "empty": [{"role": "user", "content": ""}],
    "parts": [{"role": "user", "content": parts("one", "two", "three")}],
    "one part": [{"role": "user", "content": parts("one")}],
    "system parts": [{"role": "system", "content": parts("Be", "terse.")}, USER],
    "assistant parts": [USER, {"role": "assistant", "content": parts("a", "b")}, USER],
    "texts as parts": [{"role": "user", "content": ["one", {"type": "text", "text": "two"}]}],
    "refusal": [USER, {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}, USER],
    "reasoning": [USER, {"role": "assistant", "content": "Yes.", "reasoning": "Hm."}, USER],
    "tool parts": [USER, {"role": "tool", "tool_call_id": "x", "content": parts("4", "2")}],
    "odd text": [{"role": "user", "content": "\U0001f600 \u0000\uffff <|im_end|> {{ x }} {% y %}"}],
    "arguments": called('{"at": "Brest", "hour": 5, "deep": {"x": [1, null]}}'),
    "arguments with content": called('{"at": "Brest"}', "I look."),
    "arguments with parts": called('{"at": "Brest"}', parts("I", "look.")),
    "arguments empty": called(""),
    "arguments cut": called('{"at": "Bre'),
    "arguments scalar": called('"Brest"'),
    "arguments list": called("[1, 2]"),
    "arguments null": called("null"),
    "arguments object": called({"at": "Brest"}),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "alone": {},
    "tools none": {"tools": [TOOL], "tool_choice": "none"},
    "tools required": {"tools": [TOOL], "tool_choice": "required"},
    "tool named": {"tools": [TOOL], "tool_choice": NAMED},
    "no generation prompt": {"add_generation_prompt": False},
    "special tokens": {"add_special_tokens": True},
    "truncated": {"truncate_prompt_tokens": 7, "truncation_side": "left"},
}


def ours(template: str | None, url: str, body: dict[str, Any]) -> list[list[int]] | None:
    """Token ids of each prompt; None: refused."""
    from workers.engines.vllm_errors import translated  # noqa: PLC0415
    from workers.engines.vllm_parsers import parsers_of  # noqa: PLC0415
    from workers.engines.vllm_rendering import Rendering  # noqa: PLC0415
    from workers.engines.vllm_request import asked_of  # noqa: PLC0415

    rendering = Rendering(settings().model_config, renderer(template), parsers_of(Endpoint("tiny")))
    line = {"custom_id": "1", "method": "POST", "url": url, "body": body}
    try:
        with translated():
            request = Decoder().decode(json.dumps(line).encode())
            asked = asked_of(request, TOKENS_MAX, {})
            if url == "/v1/chat/completions":
                prompts = asyncio.run(rendering.chat(asked))[1]
            else:
                prompts = asyncio.run(rendering.completion(asked))
    except (SchemasError, RequestRejected):
        return None
    return [prompt["prompt_token_ids"] for prompt in prompts]


def theirs(template: str | None, url: str, body: dict[str, Any]) -> list[list[int]] | None:
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest  # noqa: PLC0415
    from vllm.entrypoints.openai.completion.protocol import CompletionRequest  # noqa: PLC0415
    from vllm.entrypoints.serve.engine.protocol import ErrorResponse  # noqa: PLC0415
    from vllm.renderers.online_renderer import OnlineRenderer  # noqa: PLC0415

    front_end = OnlineRenderer(
        settings().model_config,
        renderer(template),
        request_logger=None,
        chat_template=None,
        chat_template_content_format="auto",
        enable_auto_tools=True,
        tool_parser="hermes",
    )
    given = json.loads(json.dumps(body))
    try:
        if url == "/v1/chat/completions":
            rendered: Any = asyncio.run(front_end.render_chat(ChatCompletionRequest.model_validate(given)))
            prompts = rendered if isinstance(rendered, ErrorResponse) else rendered[1]
        else:
            prompts = asyncio.run(front_end.render_completion(CompletionRequest.model_validate(given)))
    except Exception:  # as its server does: any of them is an answer without a result
        return None
    return None if isinstance(prompts, ErrorResponse) else [prompt["prompt_token_ids"] for prompt in prompts]


@pytest.mark.parametrize("template", [None, *TEMPLATES])
@pytest.mark.parametrize("options", OPTIONS)
def test_a_chat_has_the_tokens_of_vllms_front_end(template: str | None, options: str) -> None:
    needs_vllm()
    url = "/v1/chat/completions"
    differing = {}
    for name, messages in MESSAGES.items():
        body = {"model": "tiny", "messages": messages, **OPTIONS[options]}
        here, there = ours(template, url, body), theirs(template, url, body)
        if here != there:
            differing[name] = (here, there)
    assert differing == {}


@pytest.mark.parametrize(
    "prompt",
    [
        "The sea is",
        ["The sea is"],
        ["The sea is", "The moon is", "x"],
        [504, 2953],
        [[504, 2953]],
        [[504, 2953], [504, 1971, 7]],
        "a \U0001f600",
        [10**9],
        "word " * 2_000,
    ],
)
@pytest.mark.parametrize("options", ["alone", "truncated"])
def test_a_completion_has_the_tokens_of_vllms_front_end(prompt: Any, options: str) -> None:
    needs_vllm()
    body = {"model": "tiny", "prompt": prompt, **OPTIONS[options]}
    assert ours(None, "/v1/completions", body) == theirs(None, "/v1/completions", body)


def test_a_prompt_of_16_mib_is_found_too_long_by_its_characters() -> None:
    needs_vllm()
    from workers.engines.vllm_errors import translated  # noqa: PLC0415
    from workers.engines.vllm_parsers import parsers_of  # noqa: PLC0415
    from workers.engines.vllm_rendering import Rendering  # noqa: PLC0415
    from workers.engines.vllm_request import asked_of  # noqa: PLC0415

    rendering = Rendering(settings().model_config, renderer(), parsers_of(Endpoint("tiny")))
    message = WholeMessage("user", "word " * 3_300_000)
    asked = asked_of(Request(Task.CHAT, ChatBody(model="tiny", messages=[message])), TOKENS_MAX, {})
    with pytest.raises(RequestRejected, match="characters") as caught, translated():
        asyncio.run(rendering.chat(asked))
    assert caught.value.failure.error_class is ErrorClass.TOO_LONG
