"""The demo's input: each review classified and summarised, and a handful of records that are bad on purpose."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from schemas import headers as names
from schemas.headers import Headers
from stream.demo.reviews import REVIEWS

MOODS: Final = ("positive", "neutral", "negative")


class Sample(NamedTuple):
    """One record for the input topic."""

    key: bytes | None
    value: bytes
    headers: Headers


def samples(endpoint: str) -> list[Sample]:
    """All of them: two records a review, then the bad ones mixed in between, in a fixed order."""
    good = [line for place, review in enumerate(REVIEWS) for line in _both(endpoint, place, review)]
    bad = _bad(endpoint)
    step = len(good) // len(bad)
    for place, sample in enumerate(bad):
        good.insert(place * (step + 1), sample)
    return good


def _both(endpoint: str, place: int, review: str) -> list[Sample]:
    classify = _chat(
        endpoint,
        f"Is this review positive, neutral or negative? Answer with one word.\n\n{review}",
        tokens_max=8,
        structured_outputs={"choice": list(MOODS)},
    )
    summarise = _chat(endpoint, f"Summarise this review in one short line.\n\n{review}", tokens_max=24)
    session = f"review-{place:02d}".encode()
    return [
        Sample(session, _line(f"mood-{place:02d}", classify), []),
        Sample(session, _line(f"summary-{place:02d}", summarise), []),
    ]


def _bad(endpoint: str) -> list[Sample]:
    fine = _chat(endpoint, "Hello", tokens_max=4)
    return [
        Sample(None, b"this is not JSON", []),
        Sample(None, _line("bad-endpoint", {**fine, "model": endpoint + "x"}), []),
        Sample(None, _line("bad-tokens", {**fine, "max_tokens": -1}), []),
        Sample(None, _line("bad-pattern", {**fine, "structured_outputs": {"regex": "(((unclosed"}}), []),
        Sample(None, _line("too-late", fine), [(names.DEADLINE, b"1000")]),
        Sample(None, _line("bad-reply", fine), [(names.REPLY_TO, b"somebody.elses.topic")]),
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
