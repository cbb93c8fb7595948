"""The batch job that the token benchmarks run: 300 short classifications and 100 summaries of review sentences."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.reviews import made_reviews, read_reviews

CLASSIFICATIONS = 300
SUMMARIES = 100


def add_reviews_option(parser: argparse.ArgumentParser) -> None:
    """--reviews FILE."""
    words = "real reviews in the place of made ones: a text a line, of lines with tabs the third column"
    parser.add_argument("--reviews", type=Path, metavar="FILE", help=words)


def job(model: str, reviews: Path | None = None) -> list[str]:
    """Request lines in the OpenAI Batch format, in a fixed order, kinds mixed."""
    count = CLASSIFICATIONS + SUMMARIES
    texts = made_reviews(count) if reviews is None else read_reviews(reviews)[:count]
    lines = []
    for place, text in enumerate(texts):
        body = _summary(text) if place % 4 == 3 else _classification(text)
        line = {"custom_id": f"r-{place}", "method": "POST", "url": "/v1/chat/completions"}
        lines.append(json.dumps(line | {"body": {"model": model, "temperature": 0, **body}}))
    return lines


def _classification(text: str) -> dict[str, Any]:
    prompt = f"Is this review positive, neutral or negative? Answer with one word.\n\n{text}"
    return {
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": 8,
        "structured_outputs": {"choice": ["positive", "neutral", "negative"]},
    }


def _summary(text: str) -> dict[str, Any]:
    prompt = f"Summarise this review in one short line.\n\n{text}"
    return {"messages": [{"role": "user", "content": prompt}], "max_tokens": 48}
