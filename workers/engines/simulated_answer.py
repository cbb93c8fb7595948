"""What the simulated engine answers: a pure function of the request, so that a check elsewhere can compute it too."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from schemas.request import Body, Request, Task
from workers.engines.base import Answer, Tokens
from workers.engines.sample import sample
from workers.engines.simulated_faults import NO_FAULTS, parse_faults
from workers.structured.structure import Kind, Structure, structure_of

#: Tokens are counted as a rule of thumb does: so many bytes each.
BYTES_PER_TOKEN: Final = 4
#: Tokens of a free text where the request sets no lower limit.
TEXT_TOKENS: Final = 8
EMBEDDING_SIZE: Final = 8

_encode = msgspec.json.Encoder().encode


def expected_answer(request: Request) -> Mapping[str, Any]:
    """The whole body that the simulated engine answers `request` with."""
    return answer_of(request).body


def answer_of(request: Request) -> Answer:
    """The answer and its tokens."""
    if request.task is Task.EMBEDDING:
        return _embeddings(request.body)
    body = request.body
    prompt = _encode(body.messages if request.task is Task.CHAT else body.prompt)
    seed = zlib.crc32(prompt)
    texts = [_text(body, seed + index) for index in range(body.n or 1)]
    tokens = Tokens(len(prompt) // BYTES_PER_TOKEN + 1, sum(map(_tokens, texts)))
    return Answer(_body(request, seed, texts, tokens), tokens, 0.0)


def prompt_tokens(request: Request) -> int:
    """Tokens of the prompt, by the rule of thumb."""
    body = request.body
    return len(_encode(body.messages or body.prompt or body.input)) // BYTES_PER_TOKEN + 1


def _tokens(text: str) -> int:
    return len(text) // BYTES_PER_TOKEN + 1


def _body(request: Request, seed: int, texts: list[str], tokens: Tokens) -> dict[str, Any]:
    chat = request.task is Task.CHAT
    choices = [
        {"index": index, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        if chat
        else {"index": index, "text": text, "finish_reason": "stop"}
        for index, text in enumerate(texts)
    ]
    return {
        "id": f"sim-{seed:08x}",
        "object": "chat.completion" if chat else "text_completion",
        "created": 0,
        "model": request.body.model,
        "choices": choices,
        "usage": _usage(tokens),
    }


def _usage(tokens: Tokens) -> dict[str, int]:
    total = tokens.input + tokens.output
    return {"prompt_tokens": tokens.input, "completion_tokens": tokens.output, "total_tokens": total}


def _text(body: Body, seed: int) -> str:
    structure = structure_of(body)
    if structure is not None:
        return _structured(structure, seed)
    text = f"answer {seed:08x} of the simulated engine"
    limit = body.tokens_max
    text = text if limit is None else text[: min(limit, TEXT_TOKENS) * BYTES_PER_TOKEN]
    faults = NO_FAULTS if body.metadata is None else parse_faults(body.metadata.get("simulate", ""))
    if faults.answer_bytes is not None:
        text = (text * (faults.answer_bytes // len(text) + 1))[: faults.answer_bytes]
    return text


def _structured(structure: Structure, seed: int) -> str:
    if structure.kind is Kind.CHOICE:
        choices = structure.choices
        return choices[seed % len(choices)]
    if structure.kind is Kind.JSON:
        return _sample_text(structure.text)
    if structure.kind is Kind.JSON_OBJECT:
        return f'{{"answer":"{seed:08x}"}}'
    return f"{seed:08x}"


@lru_cache(maxsize=256)
def _sample_text(schema: str) -> str:
    return _encode(sample(msgspec.json.decode(schema))).decode()


def _embeddings(body: Body) -> Answer:
    inputs = (
        body.input
        if isinstance(body.input, list) and body.input and isinstance(body.input[0], str)
        else [body.input]
    )
    data = [
        {"object": "embedding", "index": index, "embedding": _vector(zlib.crc32(_encode(item)))}
        for index, item in enumerate(inputs)
    ]
    tokens = Tokens(sum(len(_encode(item)) // BYTES_PER_TOKEN + 1 for item in inputs))
    usage = {"prompt_tokens": tokens.input, "total_tokens": tokens.input}
    return Answer({"object": "list", "data": data, "model": body.model, "usage": usage}, tokens)


def _vector(seed: int) -> list[float]:
    """Of length one, and never zero."""
    numbers = [((seed >> (4 * place)) & 15) + 0.5 for place in range(EMBEDDING_SIZE)]
    norm = sum(number * number for number in numbers) ** 0.5
    return [number / norm for number in numbers]
