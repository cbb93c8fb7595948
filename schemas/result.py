"""The result line: an answer, or an error where the producer asked for errors as results."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from schemas import headers as names
from schemas.failure import Failure
from schemas.headers import Headers
from schemas.lane import Lane
from schemas.message_text import shorten
from schemas.source import Source
from schemas.times import NO_TIMES, Times
from schemas.work import VERSION_HEADER

STATUS_OK: Final = 200
NO_TOKENS: Final[Mapping[str, int]] = MappingProxyType({})
_ENCODER: Final = msgspec.json.Encoder()


class Facts(msgspec.Struct, frozen=True):
    """What a result says of its record beside the answer. None: not known when it failed."""

    source: Source
    endpoint: str | None
    tenant: str | None
    lane: Lane | None
    attempts: int
    times: Times = NO_TIMES
    #: Tokens found in a cache, by tier.
    cached_tokens: Mapping[str, int] = NO_TOKENS
    #: Fields without effect: the first of them by path, and how many there were.
    ignored: tuple[str, ...] = ()
    ignored_count: int = 0


def answer_value(
    facts: Facts, custom_id: str | None, body: Mapping[str, Any], clamped: Mapping[str, int] | None = None
) -> bytes:
    """The result line of an answer. `body`: the OpenAI answer; `clamped`: fields that were lowered, with the value used."""
    told = _told(facts)
    if clamped:
        told["clamped"] = dict(clamped)
    if facts.ignored_count:
        told["ignored"] = ignored_told(facts)
    name = str(facts.source)
    whole = body if type(body) is dict else dict(body)
    return _line(name, custom_id, {"status_code": STATUS_OK, "request_id": name, "body": whole}, None, told)


def error_value(facts: Facts, custom_id: str | None, failure: Failure) -> bytes:
    """The result line of a failure: `error` = {"code": class, "message"}."""
    told = _told(facts)
    if failure.retry_after_ms is not None:
        told["retry_after_ms"] = failure.retry_after_ms
    if facts.ignored_count:
        told["ignored"] = ignored_told(facts)
    error = {"code": failure.error_class, "message": shorten(failure.message)}
    return _line(str(facts.source), custom_id, None, error, told)


def ignored_told(facts: Facts) -> dict[str, Any]:
    """`headrace.ignored`."""
    return {"paths": facts.ignored, "count": facts.ignored_count}


def result_headers(source: Source, source_timestamp_ms: int, attempts: int, passing: Headers) -> Headers:
    """Ours (version, source, source-timestamp, attempts), then the producer's."""
    return [
        VERSION_HEADER,
        (names.SOURCE, str(source).encode()),
        (names.SOURCE_TIMESTAMP, b"%d" % source_timestamp_ms),
        (names.ATTEMPTS, b"%d" % attempts),
        *passing,
    ]


def _told(facts: Facts) -> dict[str, Any]:
    topic, partition, offset = facts.source
    queued, dispatched, first_token, done = facts.times
    return {
        "source": {"topic": topic, "partition": partition, "offset": offset},
        "endpoint": facts.endpoint,
        "tenant": facts.tenant,
        "lane": facts.lane,
        # Null until cost is built.
        "model_units": None,
        "cached_tokens": dict(facts.cached_tokens) if facts.cached_tokens else {},
        "attempts": facts.attempts,
        "times_ms": {"queued": queued, "dispatched": dispatched, "first_token": first_token, "done": done},
    }


def _line(
    name: str,
    custom_id: str | None,
    response: dict[str, Any] | None,
    error: dict[str, Any] | None,
    told: dict[str, Any],
) -> bytes:
    return _ENCODER.encode(
        {
            "id": name,
            "custom_id": custom_id,
            "response": response,
            "error": error,
            "headrace": told,
        }
    )
