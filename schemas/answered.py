"""The result and the usage record of one answer, written together: what they share is made once.

Nearly every record ends so. Byte for byte what `result` and `usage` write, at a third of their cost: only what comes
from outside is encoded, and of that what stays the same from record to record once.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from schemas import headers as names
from schemas.headers import Header, Headers
from schemas.lane import Lane
from schemas.result import STATUS_OK, Facts, ignored_told
from schemas.times import Times
from schemas.work import VERSION_HEADER

_encode: Final = msgspec.json.Encoder().encode
_ATTEMPTS: Final[dict[int, Header]] = {count: (names.ATTEMPTS, b"%d" % count) for count in range(16)}
_RESULT: Final = (
    b'{"id":%b,"custom_id":%b,"response":{"status_code":'
    + b"%d" % STATUS_OK
    + b',"request_id":%b,"body":%b},'
    b'"error":null,"headrace":{%b"model_units":null,"cached_tokens":%b,"attempts":%d,"times_ms":%b%b}}'
)
_USAGE: Final = (
    b'{%b"outcome":"answered","attempts":%d,"tokens":{"input":%d,"output":%d,"cached":%b},'
    b'"model_units":null,"times_ms":%b}'
)
_WHO: Final = b'"source":{"topic":%b,"partition":%d,"offset":%d},%b'
_TIMES: Final = b'{"queued":%d,"dispatched":%d,"first_token":%d,"done":%d}'


class Answered(NamedTuple):
    """Values and headers of both records."""

    result: bytes
    result_headers: Headers
    usage: bytes
    usage_headers: Headers


def write_answered(
    facts: Facts,
    custom_id: str | None,
    body: Mapping[str, Any],
    clamped: Mapping[str, int],
    source_timestamp_ms: int,
    tokens: tuple[int, int],
    passing: Headers,
) -> Answered:
    """`body`: the OpenAI answer. `clamped`: fields that were lowered. `tokens`: (input, output), summed over all attempts."""
    topic, partition, offset = facts.source
    attempts = facts.attempts
    source = f"{topic}/{partition}/{offset}".encode()
    quoted = _quoted(topic)
    name = b'%b/%d/%d"' % (quoted[:-1], partition, offset)
    who = _WHO % (quoted, partition, offset, _owner(facts.endpoint, facts.tenant, facts.lane))
    cached = _encode(dict(facts.cached_tokens)) if facts.cached_tokens else b"{}"
    times = _times(facts.times)
    whole = _encode(body if type(body) is dict else dict(body))
    more = b',"clamped":' + _encode(dict(clamped)) if clamped else b""
    if facts.ignored_count:
        more += b',"ignored":' + _encode(ignored_told(facts))
    result = _RESULT % (name, _encode(custom_id), name, whole, who, cached, attempts, times, more)
    usage = _USAGE % (who, attempts, *tokens, cached, times)
    version, at = VERSION_HEADER, (names.SOURCE, source)
    stamp = (names.SOURCE_TIMESTAMP, b"%d" % source_timestamp_ms)
    tried = _ATTEMPTS.get(attempts) or (names.ATTEMPTS, b"%d" % attempts)
    return Answered(result, [version, at, stamp, tried, *passing], usage, [version, at, stamp])


@lru_cache(maxsize=1_024)
def _quoted(text: str) -> bytes:
    """As a JSON string."""
    return _encode(text)


@lru_cache(maxsize=4_096)
def _owner(endpoint: str | None, tenant: str | None, lane: Lane | None) -> bytes:
    return b'"endpoint":%b,"tenant":%b,"lane":%b,' % (_encode(endpoint), _encode(tenant), _encode(lane))


def _times(times: Times) -> bytes:
    return _encode(times._asdict()) if None in times else _TIMES % times
