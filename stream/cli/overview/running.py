"""Requests inside the engines now, as the workers' heartbeats tell them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from schemas.heartbeat import Heartbeat
from schemas.lane import LANES
from stream.client.lanes import Key


def running_now(beats: Iterable[Heartbeat]) -> Mapping[Key, int]:
    """Over all workers, by lane."""
    running: Counter[Key] = Counter()
    for beat in beats:
        running.update({Key(beat.endpoint, lane): beat.running.get(str(lane), 0) for lane in LANES})
    return running
