"""The worker's heartbeat on `headrace.workers`: who it is, what it can take, what it does now."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Final

import msgspec

from schemas.headers import FORMAT_VERSION
from schemas.lane import LANES
from stream.log.base import Output
from stream.worker.share import Share

_ENCODER = msgspec.json.Encoder()
#: Partitions set aside that a heartbeat names, and the length of each reason.
SET_ASIDE_MAX: Final = 64
WHY_CHARS_MAX: Final = 200


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


def heartbeat(
    share: Share, *, worker: str, endpoint: str, slots: int, at_ms: int, state: str, sources_max: int
) -> Heartbeat:
    """Bounded whatever runs."""
    running = Counter(str(record.lane) for record in share.running.values())
    works = (record.work for record in share.running.values())
    sources = [str(work.source) for work in islice(works, sources_max) if work is not None]
    return Heartbeat(
        worker,
        endpoint,
        at_ms,
        state,
        slots,
        {str(lane): running[str(lane)] for lane in LANES},
        {str(lane): len(share.waiting[lane]) for lane in LANES},
        {str(lane): len(share.ready.lanes[lane]) for lane in LANES},
        sorted({place.partition for place in share.ledgers}),
        len(share.quarantined) + len(share.still.troubles),
        sources,
        len(share.running) - len(sources),
        _set_aside(share),
    )


def _set_aside(share: Share) -> dict[str, str]:
    why = {place: aside.reason for place, aside in share.quarantined.items()}
    why |= {place: trouble.stuck.why for place, trouble in share.still.troubles.items()}
    named = islice(sorted(why.items()), SET_ASIDE_MAX)
    return {f"{place.topic}/{place.partition}": words[:WHY_CHARS_MAX] for place, words in named}


def heartbeat_record(topic: str, beat: Heartbeat) -> Output:
    return Output(topic, beat.worker.encode(), _ENCODER.encode(beat), [])


def read_heartbeat(value: bytes) -> Heartbeat:
    """msgspec.DecodeError or ValidationError for anything else."""
    return msgspec.json.decode(value, type=Heartbeat)
