"""Writing a fresh map in the place of one that cannot be trusted, as a member of the group."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Final

from stream.config.settings import Settings
from stream.errors import LogError, LogFenced, LogTimeout
from stream.exactly_once.offset_map import OffsetMap, encode
from stream.log.base import (
    Aborted,
    Assignor,
    Fenced,
    GroupStamp,
    Log,
    LogConsumer,
    OffsetCommit,
    Outcome,
    Partition,
    Success,
)

JOIN_S: Final = 60.0
POLL_S: Final = 0.2
TRIES_MAX: Final = 5


class _Bystander:
    """Joins the group and reads nothing: what it is given while it is there has no work in it."""

    def __init__(self, consumer: LogConsumer) -> None:
        self._consumer = consumer

    def assigned(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        self._consumer.pause(partitions)
        return dict.fromkeys(partitions, 0)

    def revoked(self, partitions: Sequence[Partition]) -> None:
        """Nothing of it was begun."""

    def lost(self, partitions: Sequence[Partition]) -> None:
        """Nothing of it was begun."""


def write_fresh_map(log: Log, settings: Settings, group: str, partition: Partition, offset: int) -> None:
    """All below `offset` counts as done, nothing above. LogError says what failed; nothing is written then.

    Only a member of the group may commit while others live, so we join for a moment, by a topic
    that has no work. Eager members take their partitions over anew when we leave, and read the fresh map.
    """
    assignor: Assignor = "roundrobin" if group == settings.dispatcher_group else "range"
    commit = OffsetCommit(*partition, offset, encode(OffsetMap.empty(offset)))
    consumer = log.consumer(group, assignor=assignor)
    with closing(consumer), closing(log.producer(settings.own_topic("replay.quarantine"))) as producer:
        producer.start(JOIN_S)
        consumer.subscribe([settings.own_topic("workers")], _Bystander(consumer))
        for _ in range(TRIES_MAX):
            outcome = producer.publish([], [commit], _join(consumer))
            if not isinstance(outcome, Aborted):
                break
        _check(outcome)


def _join(consumer: LogConsumer) -> GroupStamp:
    until_s = time.monotonic() + JOIN_S
    while time.monotonic() < until_s:
        consumer.poll(1, POLL_S)
        stamp = consumer.group()
        if stamp.valid:
            return stamp
    raise LogTimeout(f"could not join the group in {JOIN_S:.0f} s")


def _check(outcome: Outcome) -> None:
    if isinstance(outcome, Success):
        return
    if isinstance(outcome, Fenced):
        raise LogFenced("another `headrace quarantine` runs")
    raise LogError(
        f"the fresh map was not written: {outcome.cause}; `headrace quarantine list` shows how it stands"
    )
