"""Records of 270 bytes, as the throughput benchmarks send them."""

from __future__ import annotations

from collections.abc import Callable

SIZE_BYTES = 270
SESSIONS = 1_000


def records_for(model: str) -> Callable[[int], tuple[bytes, bytes]]:
    """(key, value) of a place: a valid request of exactly `SIZE_BYTES` for the endpoint `model`."""
    name = model.encode()

    def make(place: int) -> tuple[bytes, bytes]:
        head = (
            b'{"custom_id":"r-%08d","method":"POST","url":"/v1/chat/completions","body":{"model":"%b",'
            b'"messages":[{"role":"user","content":"' % (place, name)
        )
        tail = b'"}],"max_tokens":8,"temperature":0}}'
        return b"session-%04d" % (place % SESSIONS), head + b"x" * (SIZE_BYTES - len(head) - len(tail)) + tail

    return make


#: For the endpoint `sim`.
record = records_for("sim")
