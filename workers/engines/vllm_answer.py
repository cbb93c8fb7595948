"""From vLLM's outputs to OpenAI answer bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vllm.outputs import PoolingRequestOutput, RequestOutput

from schemas.request import Request, Task
from workers.engines.base import Answer, EngineCall, Tokens
from workers.errors import InvalidOutput, TransientEngineError
from workers.structured.structure import Structure

#: `stop` and `length` are ends of an answer; these are not: `abort` above all is never published.
_BROKEN = ("abort", "error", None)


def completion(
    call: EngineCall, output: RequestOutput, texts: Sequence[str], created_s: int, clamped: Mapping[str, int]
) -> Answer:
    """The answer to a chat or completion request; `texts` of its outputs, in order."""
    tokens = tokens_of(output)
    ends = list(zip(output.outputs, texts, strict=True))
    if len(ends) == 1:
        ends *= call.request.body.n or 1  # greedy: one was computed, all are the same
    choices = [_choice(call.request, place, one, text) for place, (one, text) in enumerate(ends)]
    chat = call.request.task is Task.CHAT
    body = {
        "id": f"{'chatcmpl' if chat else 'cmpl'}-{call.source}",
        "object": "chat.completion" if chat else "text_completion",
        "created": created_s,
        "model": call.request.body.model,
        "choices": choices,
        "usage": {
            "prompt_tokens": tokens.input,
            "completion_tokens": tokens.output,
            "total_tokens": tokens.input + tokens.output,
            "prompt_tokens_details": {"cached_tokens": tokens.cached},
        },
    }
    first_token_s = None if output.metrics is None else output.metrics.first_token_latency or None
    return Answer(body, tokens, first_token_s, clamped)


def tokens_of(output: RequestOutput) -> Tokens:
    prompt = len(output.prompt_token_ids or ())
    return Tokens(prompt, sum(len(one.token_ids) for one in output.outputs), output.num_cached_tokens or 0)


def check_ends(output: RequestOutput, structure: Structure | None) -> None:
    """Raise where an output did not end by itself: TransientEngineError, or InvalidOutput if cut in a structure."""
    for one in output.outputs:
        if one.finish_reason in _BROKEN:
            raise TransientEngineError(f"the engine ended the answer early: {one.finish_reason}")
        if one.finish_reason == "length" and structure is not None:
            raise InvalidOutput(
                f"max_tokens ended the answer inside its {structure.kind} structure, after {len(one.token_ids)} tokens",
                tokens_of(output),
            )


def embeddings(call: EngineCall, outputs: Sequence[PoolingRequestOutput[Any]]) -> Answer:
    """The answer to an embedding request, one output per input."""
    data = [
        {"object": "embedding", "index": index, "embedding": output.outputs.data.tolist()}
        for index, output in enumerate(outputs)
    ]
    tokens = Tokens(sum(len(output.prompt_token_ids) for output in outputs))
    usage = {"prompt_tokens": tokens.input, "total_tokens": tokens.input}
    return Answer({"object": "list", "data": data, "model": call.request.body.model, "usage": usage}, tokens)


def _choice(request: Request, place: int, one: Any, text: str) -> dict[str, Any]:
    choice: dict[str, Any] = {"index": place, "finish_reason": one.finish_reason, "logprobs": None}
    if request.task is Task.CHAT:
        choice["message"] = {"role": "assistant", "content": text}
    else:
        choice["text"] = text
    return choice
