"""The value of a record of `headrace.workers`: what a worker says of itself, as every reader takes it."""

from __future__ import annotations

import msgspec

from schemas.headers import FORMAT_VERSION

_ENCODER = msgspec.json.Encoder()


class Heartbeat(msgspec.Struct, frozen=True):
    """The value of a record of `headrace.workers`; its key is `worker`."""

    worker: str
    endpoint: str
    #: ms since the epoch.
    at_ms: int
    state: str
    #: Calls that it may run at once.
    slots: int
    #: By lane.
    running: dict[str, int]
    waiting: dict[str, int]
    ready: dict[str, int]
    #: Partition numbers that it owns, in any lane.
    partitions: list[int]
    quarantined: int
    #: `topic/partition/offset` of inputs in the engine; `sources_left_out` more are not named.
    sources: list[str]
    sources_left_out: int = 0
    #: `topic/partition` -> why; so many are named at most.
    set_aside: dict[str, str] = {}
    version: int = FORMAT_VERSION


def encode_heartbeat(beat: Heartbeat) -> bytes:
    """UTF-8 JSON."""
    return _ENCODER.encode(beat)


def read_heartbeat(value: bytes) -> Heartbeat:
    """msgspec.DecodeError or ValidationError for anything else."""
    return msgspec.json.decode(value, type=Heartbeat)
