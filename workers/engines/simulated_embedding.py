"""The vectors that the simulated engine makes up, in every form in which they may be asked for."""

from __future__ import annotations

import base64
import struct
import sys
from typing import Any, Final
from zlib import crc32

from schemas.bodies import EmbeddingBody
from schemas.failure import ErrorClass, Stage
from schemas.request import Body
from workers.engines.base import Answer, Tokens
from workers.engines.simulated_text import BYTES_PER_TOKEN, encode
from workers.errors import RequestRejected

EMBEDDING_SIZE: Final = 8
_FORMS: Final = {"float32": "f", "float16": "e"}
_ORDERS: Final = {"little": "<", "big": ">", "native": "<" if sys.byteorder == "little" else ">"}


def embeddings(body: Body) -> Answer:
    """One vector for each input."""
    more = body if isinstance(body, EmbeddingBody) else EmbeddingBody(model=body.model)
    size = more.dimensions or EMBEDDING_SIZE
    data = [
        {
            "object": "embedding",
            "index": index,
            "embedding": _formed(_vector(crc32(encode(item)), size), more),
        }
        for index, item in enumerate(given(body.input))
    ]
    tokens = Tokens(sum(tokens_in(item, more.truncate_prompt_tokens) for item in given(body.input)))
    usage = {"prompt_tokens": tokens.input, "total_tokens": tokens.input}
    return Answer({"object": "list", "data": data, "model": body.model, "usage": usage}, tokens)


def given(prompts: Any) -> list[Any]:
    """A list of prompts, each text or token ids."""
    return list(prompts) if isinstance(prompts, list) and not isinstance(prompts[0], int) else [prompts]


def tokens_in(prompt: str | list[int] | bytes, bound: int | None = None) -> int:
    """Of text, of token ids, or of a chat as JSON. `bound`: so many are kept; None or -1: all."""
    if isinstance(prompt, list):
        tokens = len(prompt)
    else:
        tokens = len(prompt if isinstance(prompt, bytes) else encode(prompt)) // BYTES_PER_TOKEN + 1
    return tokens if bound is None or bound < 0 else min(tokens, bound)


def _vector(seed: int, size: int) -> list[float]:
    """Of length one, and never zero."""
    numbers = [((seed >> (4 * (place % 8))) & 15) + 0.5 for place in range(size)]
    norm = sum(number * number for number in numbers) ** 0.5
    return [number / norm for number in numbers]


def _formed(vector: list[float], body: EmbeddingBody) -> list[float] | str:
    if body.encoding_format != "base64":
        return vector
    form = _FORMS.get(body.embed_dtype or "float32")
    if form is None:
        text = (
            f"$.body.embed_dtype: the simulated engine packs {' and '.join(_FORMS)}, not {body.embed_dtype}"
        )
        raise RequestRejected(ErrorClass.INVALID, Stage.VALIDATE, text)
    packed = struct.pack(f"{_ORDERS[body.endianness or 'native']}{len(vector)}{form}", *vector)
    return base64.b64encode(packed).decode()
