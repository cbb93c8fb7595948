"""Request lines for the tests."""

from __future__ import annotations

import json
from typing import Any

CHAT_URL = "/v1/chat/completions"


def chat(**body: Any) -> dict[str, Any]:
    """A good chat line; `body` changes or adds fields, `...` takes one away."""
    full = {"model": "sim", "messages": [{"role": "user", "content": "Hello"}], **body}
    kept = {name: value for name, value in full.items() if value is not ...}
    return {"custom_id": "r-1", "method": "POST", "url": CHAT_URL, "body": kept}


def completion(**body: Any) -> dict[str, Any]:
    return {"custom_id": "r-1", "url": "/v1/completions", "body": {"model": "sim", "prompt": "Once", **body}}


def embedding(**body: Any) -> dict[str, Any]:
    return {"custom_id": "r-1", "url": "/v1/embeddings", "body": {"model": "sim", "input": "Once", **body}}


def as_json(line: object) -> bytes:
    return json.dumps(line).encode()


def with_unknown(text: bytes) -> bytes:
    """A good line with `text` as the value of an unknown field."""
    return as_json(chat())[:-1] + b', "unknown": ' + text + b"}"
