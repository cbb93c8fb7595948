"""What the workers told of themselves last, wherever they run."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from typing import Final

import msgspec

from schemas.heartbeat import Heartbeat, read_heartbeat
from stream.client.group_position import ASK_S, partitions_of
from stream.config.settings import Settings
from stream.log.base import Log

#: Workers beat every second: one that was silent for so long is gone, or stands still.
FRESH_MS: Final = 15_000
#: So many of the newest heartbeats are read: those of two hundred workers.
RECORDS_MAX: Final = 3_000


def last_beats(
    log: Log,
    settings: Settings,
    topics: Mapping[str, int],
    now_ms: int | None = None,
    ask_s: float = ASK_S,
) -> list[Heartbeat]:
    """The newest of each worker that beats. LogTimeout when the broker does not answer one of the questions in `ask_s`."""
    now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    places = partitions_of(topics, [settings.own_topic("workers")])
    admin = log.admin()
    marks, ends = admin.watermarks(places, ask_s), admin.stable_ends(places, ask_s)
    begin = {place: max(marks[place].low, ends[place] - RECORDS_MAX) for place in places}
    beats: dict[str, Heartbeat] = {}
    with closing(log.reader(begin)) as reader:
        for record in reader.to_end(ask_s):
            beat = _read(record.value())
            if beat is not None and beat.at_ms > now_ms - FRESH_MS:
                beats[beat.worker] = beat
    return list(beats.values())


def _read(value: bytes | None) -> Heartbeat | None:
    """None for what is none, or of a later version: a command must not fail by it."""
    try:
        return None if value is None else read_heartbeat(value)
    except (msgspec.DecodeError, RecursionError):
        return None
