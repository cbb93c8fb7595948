"""The demo's input: each review classified and summarised, and a handful of records that are bad on purpose."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from schemas import headers as names
from stream.client.submission import Addressed
from stream.demo.reviews import REVIEWS

MOODS: Final = ("positive", "neutral", "negative")


def samples(endpoint: str) -> list[Addressed]:
    """All of them: two records a review, then the bad ones mixed in between, in a fixed order."""
    good = [line for place, review in enumerate(REVIEWS) for line in _both(endpoint, place, review)]
    bad = _bad(endpoint)
    step = len(good) // len(bad)
    for place, sample in enumerate(bad):
        good.insert(place * (step + 1), sample)
    return good


def _both(endpoint: str, place: int, review: str) -> list[Addressed]:
    classify = _chat(
        endpoint,
        f"Is this review positive, neutral or negative? Answer with one word.\n\n{review}",
        tokens_max=8,
        structured_outputs={"choice": list(MOODS)},
    )
    summarise = _chat(endpoint, f"Summarise this review in one short line.\n\n{review}", tokens_max=24)
    session = f"review-{place:02d}".encode()
    return [
        Addressed(_line(f"mood-{place:02d}", classify), session, []),
        Addressed(_line(f"summary-{place:02d}", summarise), session, []),
    ]


def _bad(endpoint: str) -> list[Addressed]:
    fine = _chat(endpoint, "Hello", tokens_max=4)
    return [
        Addressed(b"this is not JSON", None, []),
        Addressed(_line("bad-endpoint", {**fine, "model": endpoint + "x"}), None, []),
        Addressed(_line("bad-tokens", {**fine, "max_tokens": -1}), None, []),
        Addressed(_line("bad-pattern", {**fine, "structured_outputs": {"regex": "(((unclosed"}}), None, []),
        Addressed(_line("too-late", fine), None, [(names.DEADLINE, b"1000")]),
        Addressed(_line("bad-reply", fine), None, [(names.REPLY_TO, b"somebody.elses.topic")]),
    ]


def _chat(endpoint: str, text: str, tokens_max: int, **more: Any) -> dict[str, Any]:
    return {
        "model": endpoint,
        "messages": [{"role": "user", "content": text}],
        "max_tokens": tokens_max,
        "temperature": 0,
        **more,
    }


def _line(custom_id: str, body: dict[str, Any]) -> bytes:
    return msgspec.json.encode(
        {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}
    )
