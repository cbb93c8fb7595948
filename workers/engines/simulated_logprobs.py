"""Made-up log probabilities in the shapes of OpenAI and vLLM: plausible numbers, the same for the same token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from workers.engines.simulated_text import token_id

#: How much less likely each further token is said to be.
STEP: Final = 0.5


def chat_logprobs(pieces: Sequence[str], top: int, *, as_ids: bool) -> dict[str, Any]:
    """One entry for each token, with the `top` likeliest in its place."""
    return {"content": [_entry(piece, top, as_ids=as_ids) for piece in pieces]}


def completion_logprobs(pieces: Sequence[str], top: int, unknown: int, *, as_ids: bool) -> dict[str, Any]:
    """`unknown`: the first so many have none, for nothing stands before them."""
    offsets, offset = [], 0
    for piece in pieces:
        offsets.append(offset)
        offset += len(piece)
    named = [_named(piece, as_ids=as_ids) for piece in pieces]
    known = [place >= unknown for place in range(len(pieces))]
    return {
        "text_offset": offsets,
        "tokens": named,
        "token_logprobs": [
            _logprob(piece) if told else None for piece, told in zip(pieces, known, strict=True)
        ],
        "top_logprobs": [
            dict(_likely(piece, top + 1, as_ids=as_ids)) if told else None
            for piece, told in zip(pieces, known, strict=True)
        ],
    }


def prompt_logprobs(pieces: Sequence[str], top: int) -> list[dict[int, dict[str, Any]] | None]:
    """As vLLM tells them: by token id; the first token has none."""
    return [
        None
        if place == 0
        else {
            token_id(piece) + rank: {"logprob": logprob, "rank": rank + 1, "decoded_token": name}
            for rank, (name, logprob) in enumerate(_likely(piece, max(top, 1), as_ids=False))
        }
        for place, piece in enumerate(pieces)
    ]


def _entry(piece: str, top: int, *, as_ids: bool) -> dict[str, Any]:
    likely = [
        {"token": name, "logprob": logprob, "bytes": list(name.encode("utf-8", "replace"))}
        for name, logprob in _likely(piece, top, as_ids=as_ids)
    ]
    return {
        "token": _named(piece, as_ids=as_ids),
        "logprob": _logprob(piece),
        "bytes": list(piece.encode("utf-8", "replace")),
        "top_logprobs": likely,
    }


def _likely(piece: str, top: int, *, as_ids: bool) -> list[tuple[str, float]]:
    """The token itself, then others that are less likely by a step each."""
    return [
        (
            f"token_id:{token_id(piece) + rank}" if as_ids else piece + "'" * rank,
            _logprob(piece) - STEP * rank,
        )
        for rank in range(top)
    ]


def _named(piece: str, *, as_ids: bool) -> str:
    return f"token_id:{token_id(piece)}" if as_ids else piece


def _logprob(piece: str) -> float:
    return -(token_id(piece) % 1_000) / 1_000
