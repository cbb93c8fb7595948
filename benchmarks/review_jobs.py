"""The batch job that the token benchmarks run: 300 short classifications and 100 summaries of real review sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CLASSIFICATIONS = 300
SUMMARIES = 100
DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data" / "amazon_review_snippets.tsv"


def sentences() -> list[str]:
    """Third column of the data set; FileNotFoundError says which file is missing."""
    return [
        line.split("\t")[2] for line in DATA.read_text(encoding="utf-8").splitlines() if line.count("\t") >= 2
    ]


def job(model: str) -> list[str]:
    """Request lines in the OpenAI Batch format, in a fixed order, kinds mixed."""
    texts = sentences()[: CLASSIFICATIONS + SUMMARIES]
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
