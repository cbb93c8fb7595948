"""Records of 270 bytes, as the throughput benchmarks send them."""

from __future__ import annotations

SIZE_BYTES = 270
SESSIONS = 1_000


def record(place: int) -> tuple[bytes, bytes]:
    """(key, value): a valid request of exactly `SIZE_BYTES` for the endpoint `sim`."""
    head = (
        b'{"custom_id":"r-%08d","method":"POST","url":"/v1/chat/completions","body":{"model":"sim",' % place
    )
    head += b'"messages":[{"role":"user","content":"'
    tail = b'"}],"max_tokens":8,"temperature":0}}'
    return b"session-%04d" % (place % SESSIONS), head + b"x" * (SIZE_BYTES - len(head) - len(tail)) + tail
