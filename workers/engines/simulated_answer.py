"""What the simulated engine answers: a pure function of the request, so that a check elsewhere can compute it too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zlib import crc32

from schemas.bodies import ChatBody, GenerationBody
from schemas.failure import ErrorClass, Stage
from schemas.request import Body, Request, Task
from workers.engines.base import NO_CLAMPS, Answer, Tokens
from workers.engines.simulated_embedding import embeddings, given, tokens_in
from workers.engines.simulated_text import BYTES_PER_TOKEN, Written, encode, written
from workers.engines.simulated_whole import whole
from workers.errors import RequestRejected


def expected_answer(request: Request) -> Mapping[str, Any]:
    """The whole body that the simulated engine answers `request` with."""
    return answer_of(request).body


def answer_of(request: Request, tokens_max: int | None = None) -> Answer:
    """The answer and its tokens. RequestRejected(invalid) where the request asks for no possible structure.

    `tokens_max`: what the model takes, prompt and answer; None: no bound.
    """
    body = request.body
    if request.task is Task.EMBEDDING:
        return embeddings(body)
    chat = request.task is Task.CHAT
    prompt = encode(body.messages if chat else body.prompt)
    seed = crc32(prompt) if body.seed is None else crc32(b"%d" % body.seed, crc32(prompt))
    if type(body) is Body and tokens_max is None and type(body.prompt) is not list:
        choices, tokens = _plain(body, prompt, seed, chat=chat)
        return Answer(_body(body, seed, tokens, choices, chat=chat), tokens, 0.0)
    choices, told, tokens = whole(request, seed, tokens_max)
    answer = _body(body, seed, tokens, choices, chat=chat) | told
    return Answer(answer, tokens, 0.0, _clamped(body, tokens.input, tokens_max))


def _body(body: Body, seed: int, tokens: Tokens, choices: list[Any], *, chat: bool) -> dict[str, Any]:
    return {
        "id": f"sim-{seed:08x}",
        "object": "chat.completion" if chat else "text_completion",
        "created": 0,
        "model": body.model,
        "choices": choices,
        "usage": {
            "prompt_tokens": tokens.input,
            "completion_tokens": tokens.output,
            "total_tokens": tokens.input + tokens.output,
        },
    }


def prompt_tokens(request: Request) -> int:
    """Tokens of the longest prompt, by the rule of thumb."""
    body = request.body
    prompts = [encode(body.messages)] if request.task is Task.CHAT else given(body.prompt or body.input)
    bound = body.truncate_prompt_tokens if isinstance(body, GenerationBody) else None
    return max(tokens_in(prompt, bound) for prompt in prompts)


def check_tool_choice(body: Body) -> None:
    """RequestRejected(invalid) where a model without a tool parser is left to choose a tool."""
    if isinstance(body, ChatBody) and body.tools and body.tool_choice in (None, "auto"):
        text = (
            '$.body.tool_choice: "auto" (meant also where tools come without a tool_choice) needs a parser; '
            'ask for "required", a named tool or "none", or set tool_parser in the endpoint\'s configuration'
        )
        raise RequestRejected(ErrorClass.INVALID, Stage.VALIDATE, text)


def _plain(body: Body, prompt: bytes, seed: int, *, chat: bool) -> tuple[list[dict[str, Any]], Tokens]:
    texts = [written(body, seed)] if body.n is None else [written(body, seed + n) for n in range(body.n)]
    choice_of = _chat_choice if chat else _completion_choice
    tokens = Tokens(len(prompt) // BYTES_PER_TOKEN + 1, sum([text.tokens for text in texts]))
    return [choice_of(place, text) for place, text in enumerate(texts)], tokens


def _chat_choice(place: int, text: Written) -> dict[str, Any]:
    message = {"role": "assistant", "content": text.text}
    return {"index": place, "message": message, "finish_reason": text.finish_reason}


def _completion_choice(place: int, text: Written) -> dict[str, Any]:
    return {"index": place, "text": text.text, "finish_reason": text.finish_reason}


def _clamped(body: Body, prompt: int, tokens_max: int | None) -> Mapping[str, int]:
    asked = body.tokens_max
    if asked is None or tokens_max is None or asked <= tokens_max - prompt:
        return NO_CLAMPS
    name = "max_tokens" if body.max_completion_tokens is None else "max_completion_tokens"
    return {name: tokens_max - prompt}
