"""The simulated answer to a request with seldom fields: lists of prompts, log probabilities, echoes, tool calls, ids."""

from __future__ import annotations

from typing import Any
from zlib import crc32

from schemas.bodies import ChatBody, CompletionBody, GenerationBody
from schemas.request import Body, Request, Task
from workers.engines.base import Tokens
from workers.engines.simulated_embedding import given, tokens_in
from workers.engines.simulated_logprobs import chat_logprobs, completion_logprobs, prompt_logprobs
from workers.engines.simulated_text import Written, encode, forced_tool, pieces, token_id, written


def whole(request: Request, seed: int, tokens_max: int | None) -> tuple[list[Any], dict[str, Any], Tokens]:
    """The choices, what is told beside them, and the tokens of all.

    `seed`: of the whole prompt; `tokens_max`: what the model takes, prompt and answer.
    """
    chat = request.task is Task.CHAT
    body = request.body
    messages = encode(body.messages)
    prompts = [messages.decode()] if chat else given(body.prompt)
    bound = body.truncate_prompt_tokens if isinstance(body, GenerationBody) else None
    counts = [tokens_in(prompt, bound) for prompt in ([messages] if chat else prompts)]
    texts: list[Written] = []
    choices: list[dict[str, Any]] = []
    for prompt, size in zip(prompts, counts, strict=True):
        start = seed if len(prompts) == 1 else crc32(encode(prompt), seed)
        for place in range(body.n or 1):
            text = written(body, start + place, None if tokens_max is None else tokens_max - size)
            texts.append(text)
            index = len(choices)
            choices.append(
                _chat(body, index, text, start) if chat else _completion(body, index, text, prompt, size)
            )
    tokens = Tokens(sum(counts), sum(text.tokens for text in texts))
    told = _of_prompt(body, prompts[0], counts[0]) if chat else {}
    return choices, told, tokens


def _chat(body: Body, index: int, text: Written, seed: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": _echoed(body) + text.text}
    finish_reason = text.finish_reason
    tool = forced_tool(body)
    if tool is not None:
        function = {"name": tool["name"], "arguments": text.text}
        call = {"id": f"call_{seed + index:08x}", "type": "function", "function": function}
        message |= {"content": "", "tool_calls": [call]}
        if isinstance(body, ChatBody) and body.tool_choice == "required" and finish_reason == "stop":
            finish_reason = "tool_calls"
    choice = {"index": index, "message": message, "finish_reason": finish_reason}
    if isinstance(body, ChatBody):
        if body.logprobs:
            choice["logprobs"] = chat_logprobs(
                pieces(text.text, text.tokens),
                body.top_logprobs or 0,
                as_ids=bool(body.return_tokens_as_token_ids),
            )
        if body.return_token_ids:
            choice["token_ids"] = [token_id(piece) for piece in pieces(text.text, text.tokens)]
    return choice


def _completion(
    body: Body, index: int, text: Written, prompt: str | list[int], tokens: int
) -> dict[str, Any]:
    choice: dict[str, Any] = {"index": index, "text": text.text, "finish_reason": text.finish_reason}
    if not isinstance(body, CompletionBody):
        return choice
    before = _prompt_pieces(prompt, tokens) if body.echo else []
    choice["text"] = "".join(before) + text.text
    if body.logprobs is not None:
        choice["logprobs"] = completion_logprobs(
            [*before, *pieces(text.text, text.tokens)],
            body.logprobs,
            1 if before else 0,
            as_ids=bool(body.return_tokens_as_token_ids),
        )
    if body.return_token_ids:
        choice["token_ids"] = [token_id(piece) for piece in pieces(text.text, text.tokens)]
    return choice | _of_prompt(body, prompt, tokens)


def _of_prompt(body: Body, prompt: str | list[int], tokens: int) -> dict[str, Any]:
    """What is told of the prompt: in a chat beside the choices, in a completion with each."""
    told: dict[str, Any] = {}
    if not isinstance(body, GenerationBody):
        return told
    if body.prompt_logprobs is not None:
        told["prompt_logprobs"] = prompt_logprobs(_prompt_pieces(prompt, tokens), body.prompt_logprobs)
    if body.return_token_ids:
        told["prompt_token_ids"] = (
            prompt
            if isinstance(prompt, list)
            else [token_id(piece) for piece in _prompt_pieces(prompt, tokens)]
        )
    if isinstance(body, ChatBody) and body.return_prompt_text:
        told["prompt_text"] = prompt
    return told


def _prompt_pieces(prompt: str | list[int], tokens: int) -> list[str]:
    if isinstance(prompt, list):
        return [f"<{token}>" for token in prompt]
    return pieces(prompt, tokens)


def _echoed(body: Body) -> str:
    """The last message, where the answer goes on with it."""
    last = (body.messages or [])[-1]
    if not isinstance(body, ChatBody) or not body.echo or not isinstance(last.content, str):
        return ""
    role = "assistant" if body.add_generation_prompt is not False else last.role
    return last.content if last.role == role else ""
