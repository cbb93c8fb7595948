"""What the simulated engine answers: a pure function of the request, so that a check elsewhere can compute it too."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final
from zlib import crc32

import msgspec

from schemas.request import Body, Request, Task
from workers.engines.base import Answer, Tokens
from workers.engines.sample import sample
from workers.engines.simulated_faults import Faults, parse_faults
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
    """The answer and its tokens. RequestRejected(invalid) where the request asks for no possible structure."""
    body = request.body
    if request.task is Task.EMBEDDING:
        return _embeddings(body)
    chat = request.task is Task.CHAT
    prompt = _encode(body.messages if chat else body.prompt)
    seed = crc32(prompt)
    texts = [_text(body, seed)] if body.n is None else [_text(body, seed + place) for place in range(body.n)]
    choice_of = _chat_choice if chat else _completion_choice
    tokens = Tokens(
        len(prompt) // BYTES_PER_TOKEN + 1, sum([len(text) // BYTES_PER_TOKEN + 1 for text in texts])
    )
    answer = {
        "id": f"sim-{seed:08x}",
        "object": "chat.completion" if chat else "text_completion",
        "created": 0,
        "model": body.model,
        "choices": [choice_of(place, text) for place, text in enumerate(texts)],
        "usage": {
            "prompt_tokens": tokens.input,
            "completion_tokens": tokens.output,
            "total_tokens": tokens.input + tokens.output,
        },
    }
    return Answer(answer, tokens, 0.0)


def prompt_tokens(request: Request) -> int:
    """Tokens of the prompt, by the rule of thumb."""
    body = request.body
    return len(_encode(body.messages or body.prompt or body.input)) // BYTES_PER_TOKEN + 1


def _chat_choice(place: int, text: str) -> dict[str, Any]:
    return {"index": place, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}


def _completion_choice(place: int, text: str) -> dict[str, Any]:
    return {"index": place, "text": text, "finish_reason": "stop"}


def _text(body: Body, seed: int) -> str:
    structure = structure_of(body)
    if structure is not None:
        return _structured(structure, seed)
    text = f"answer {seed:08x} of the simulated engine"
    limit = body.tokens_max
    if limit is not None and limit < TEXT_TOKENS:
        text = text[: limit * BYTES_PER_TOKEN]
    return text if body.metadata is None else _of_size(text, parse_faults(body.metadata.get("simulate", "")))


def _of_size(text: str, faults: Faults) -> str:
    size = faults.answer_bytes
    return text if size is None else (text * (size // len(text) + 1))[:size]


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
    try:
        return _encode(sample(msgspec.json.decode(schema))).decode()
    except (TypeError, ValueError, LookupError, ArithmeticError):
        return "null"  # a reference led to what is no schema: the check of the answer says so


def _embeddings(body: Body) -> Answer:
    inputs = (
        body.input
        if isinstance(body.input, list) and body.input and isinstance(body.input[0], str)
        else [body.input]
    )
    data = [
        {"object": "embedding", "index": index, "embedding": _vector(crc32(_encode(item)))}
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
