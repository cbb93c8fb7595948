"""Lag and pace of each lane, from two looks at what the workers have committed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from schemas.lane import LANES, Lane
from stream.client.eta import LaneEta
from stream.client.group_position import partitions_of, standings
from stream.config.settings import Settings
from stream.log.base import LogAdmin
from stream.topics.left_behind import left_behind
from stream.topics.served import input_topics


class Key(NamedTuple):
    """A lane of an endpoint."""

    endpoint: str
    lane: Lane


class LaneWork(NamedTuple):
    """What is left of a lane, and how fast it goes."""

    lag: int
    pace: LaneEta


class _Look(NamedTuple):
    at_s: float
    lag: Mapping[Key, int]
    #: Offsets done since the beginning of the log.
    done: Mapping[Key, int]


def lane_works(
    admin: LogAdmin,
    settings: Settings,
    topics: Mapping[str, int],
    interval_s: float,
    *,
    clock_s: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Mapping[Key, LaneWork]:
    """Look twice, `interval_s` apart; once where nothing is left to do."""
    first = _look(admin, settings, topics, clock_s)
    if not any(first.lag.values()):
        return {key: LaneWork(0, LaneEta(0, 0)) for key in first.lag}
    sleep(interval_s)
    second = _look(admin, settings, topics, clock_s)
    seconds = second.at_s - first.at_s
    return {
        key: LaneWork(lag, LaneEta(max(0, second.done[key] - first.done[key]), seconds))
        for key, lag in second.lag.items()
    }


def unrouted(admin: LogAdmin, settings: Settings, topics: Mapping[str, int]) -> int:
    """Input records that no dispatcher has taken over yet: they are in no lane."""
    places = partitions_of(topics, input_topics(settings, topics))
    found = standings(admin, settings.dispatcher_group, places)
    return sum(standing.lag for standing in found.values())


def stranded(admin: LogAdmin, settings: Settings, topics: Mapping[str, int]) -> Mapping[str, int]:
    """Lag of the endpoints that are not configured any more, where there is some: nobody works on it."""
    found = {}
    for endpoint in left_behind(settings, topics):
        names = [settings.work_topic(endpoint, lane) for lane in LANES]
        there = standings(admin, settings.worker_group(endpoint), partitions_of(topics, names))
        found[endpoint] = sum(standing.lag for standing in there.values())
    return {endpoint: lag for endpoint, lag in found.items() if lag}


def _look(
    admin: LogAdmin, settings: Settings, topics: Mapping[str, int], clock_s: Callable[[], float]
) -> _Look:
    keys = {settings.work_topic(name, lane): Key(name, lane) for name in settings.endpoints for lane in LANES}
    lag, done = dict.fromkeys(keys.values(), 0), dict.fromkeys(keys.values(), 0)
    for endpoint in settings.endpoints:
        names = [settings.work_topic(endpoint, lane) for lane in LANES]
        found = standings(admin, settings.worker_group(endpoint), partitions_of(topics, names))
        for place, standing in found.items():
            lag[keys[place.topic]] += standing.lag
            done[keys[place.topic]] += standing.end - standing.lag
    return _Look(clock_s(), lag, done)
