"""The usage record: what one input record used, summed over its attempts, whatever became of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from schemas import headers as names
from schemas.headers import Headers
from schemas.result import Facts
from schemas.work import VERSION_HEADER

_ENCODER: Final = msgspec.json.Encoder()


def usage_value(facts: Facts, outcome: str, tokens: Mapping[str, int]) -> bytes:
    """`outcome`: `answered`, or the error class. `tokens`: {"input", "output", "cached"}, summed over all attempts."""
    topic, partition, offset = facts.source
    queued, dispatched, first_token, done = facts.times
    value: dict[str, Any] = {
        "source": {"topic": topic, "partition": partition, "offset": offset},
        "endpoint": facts.endpoint,
        "tenant": facts.tenant,
        "lane": facts.lane,
        "outcome": outcome,
        "attempts": facts.attempts,
        "tokens": {
            "input": tokens["input"],
            "output": tokens["output"],
            "cached": dict(facts.cached_tokens) if facts.cached_tokens else {},
        },
        # Null until cost is built.
        "model_units": None,
        "times_ms": {"queued": queued, "dispatched": dispatched, "first_token": first_token, "done": done},
    }
    return _ENCODER.encode(value)


def usage_key(tenant: str | None) -> bytes | None:
    """One tenant's usage stands in one partition."""
    return None if tenant is None else tenant.encode()


def usage_headers(facts: Facts, source_timestamp_ms: int) -> Headers:
    return [
        VERSION_HEADER,
        (names.SOURCE, str(facts.source).encode()),
        (names.SOURCE_TIMESTAMP, b"%d" % source_timestamp_ms),
    ]
