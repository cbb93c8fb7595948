"""The texts that the simulated engine makes up, and the tokens that it counts in them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple
from zlib import crc32

import msgspec

from schemas.bodies import ChatBody, GenerationBody
from schemas.request import Body
from workers.engines.sample import sample
from workers.engines.simulated_faults import parse_faults
from workers.structured.structure import Kind, Structure, structure_of

#: Tokens are counted as a rule of thumb does: so many bytes each, and one for the end.
BYTES_PER_TOKEN: Final = 4
#: Tokens of a free text where the request sets no lower limit.
TEXT_TOKENS: Final = 10
#: Ids of its tokens lie below.
VOCABULARY: Final = 50_000

encode: Final = msgspec.json.Encoder().encode


class Written(NamedTuple):
    """An answer's text, how many tokens it has, and what ended it."""

    text: str
    tokens: int
    finish_reason: str = "stop"


def written(body: Body, seed: int, room_tokens: int | None = None) -> Written:
    """`room_tokens`: what the model has room for after the prompt; None: no bound."""
    structure = wished(body)
    if structure is not None:
        text = _structured(structure, seed)
        return Written(text, count(text))
    text = f"answer {seed:08x} of the simulated engine"
    if body.metadata is not None:
        size = parse_faults(body.metadata.get("simulate", "")).answer_bytes
        if size is not None:  # a fault: no bound of the request cuts it
            text = (text * (size // len(text) + 1))[:size]
            return Written(text, count(text))
    limit = body.tokens_max if room_tokens is None else min(room_tokens, body.tokens_max or room_tokens)
    if type(body) is not Body and isinstance(body, GenerationBody):
        text = _stretched(text, body, limit)
    if body.stop is not None:
        text = _stopped(text, body.stop)
    tokens = count(text)
    if limit is None or tokens <= limit:
        return Written(text, tokens)
    return Written(text[: limit * BYTES_PER_TOKEN], limit, "length")


def wished(body: Body) -> Structure | None:
    """The structure of the answer, or of the arguments of the tool call that is asked for."""
    if type(body) is Body and body.response_format is None and body.structured_outputs is None:
        return None  # on the path of every record
    tool = forced_tool(body)
    if tool is None:
        return structure_of(body)
    return Structure(Kind.JSON, encode(tool.get("parameters") or {"type": "object"}).decode())


def forced_tool(body: Body) -> dict[str, Any] | None:
    """The function that must be called: the one that is named, else the first."""
    if not isinstance(body, ChatBody) or not body.tools or body.tool_choice in (None, "none", "auto"):
        return None
    functions: list[dict[str, Any]] = [tool["function"] for tool in body.tools]
    if isinstance(body.tool_choice, dict):
        name = body.tool_choice["function"]["name"]
        return next(function for function in functions if function["name"] == name)
    return functions[0]


def count(text: str) -> int:
    return len(text) // BYTES_PER_TOKEN + 1


def pieces(text: str, tokens: int) -> list[str]:
    """The text as so many tokens; the last may be empty: the end."""
    return [text[BYTES_PER_TOKEN * place : BYTES_PER_TOKEN * (place + 1)] for place in range(tokens)]


def token_id(piece: str) -> int:
    return crc32(piece.encode("utf-8", "surrogatepass")) % VOCABULARY


def _stretched(text: str, body: GenerationBody, limit: int | None) -> str:
    """As long as `min_tokens` says; without an end, as long as it may be."""
    tokens = body.min_tokens or 0
    if body.ignore_eos and limit is not None:
        tokens = limit + 1
    if tokens <= count(text):
        return text
    return (text * (tokens * BYTES_PER_TOKEN // len(text) + 1))[: tokens * BYTES_PER_TOKEN]


def _stopped(text: str, stop: str | list[str]) -> str:
    stops = [stop] if isinstance(stop, str) else stop
    return text[: min((place for each in stops if (place := text.find(each)) >= 0), default=len(text))]


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
        return encode(sample(msgspec.json.decode(schema))).decode()
    except (TypeError, ValueError, LookupError, ArithmeticError):
        return "null"  # a reference led to what is no schema: the check of the answer says so
