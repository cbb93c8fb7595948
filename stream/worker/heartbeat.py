"""The worker's heartbeat on `headrace.workers`: who it is, what it can take, what it does now."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Final

from schemas.heartbeat import Heartbeat, encode_heartbeat
from schemas.lane import LANES
from stream.log.base import Output
from stream.worker.owned_partitions import OwnedPartitions

#: Partitions set aside that a heartbeat names, and the length of each reason.
SET_ASIDE_MAX: Final = 64
WHY_CHARS_MAX: Final = 200


def heartbeat(
    share: OwnedPartitions,
    *,
    worker: str,
    endpoint: str,
    slots: int,
    at_ms: int,
    state: str,
    sources_max: int,
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


def _set_aside(share: OwnedPartitions) -> dict[str, str]:
    why = {place: aside.reason for place, aside in share.quarantined.items()}
    why |= {place: trouble.stuck.why for place, trouble in share.still.troubles.items()}
    named = islice(sorted(why.items()), SET_ASIDE_MAX)
    return {f"{place.topic}/{place.partition}": words[:WHY_CHARS_MAX] for place, words in named}


def heartbeat_record(topic: str, beat: Heartbeat) -> Output:
    return Output(topic, beat.worker.encode(), encode_heartbeat(beat), [])
