"""Partitions that a group cannot read on: tried at the place where it stands, for a role keeps its troubles in memory."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from stream.cli.quarantined.careful import first_readable
from stream.cli.quarantined.partitions import ASK_S, topics_of_groups
from stream.client.deadline import Deadline
from stream.client.group_position import GroupPosition, partitions_of, standings
from stream.config.settings import Settings
from stream.log.base import Log, LogAdmin, Partition
from stream.log.stuck import Stuck

POLL_S: Final = 0.2
RECORDS_MAX: Final = 500
#: More than any ledger holds open: what stands so far behind its base is not what stops it.
LOOK_RECORDS_MAX: Final = 2_000


@dataclass(frozen=True, slots=True)
class StuckPartition:
    """What `quarantine skip` needs to know."""

    standing: GroupPosition
    stuck: Stuck
    #: The offsets to skip, as far as they are known.
    first: int
    last: int


def stuck_partitions(
    log: Log, settings: Settings, topics: Mapping[str, int], deadline: Deadline
) -> Iterator[StuckPartition]:
    """Over all groups of the installation."""
    behind = dict(_behind(log.admin(), settings, topics, deadline))
    begin = {place: standing.base for place, standing in behind.items()}
    while begin:
        further: dict[Partition, int] = {}
        # A dispatcher goes on in order: it does not stand at a base from which a record can be read.
        left = {
            place: 1 if behind[place].group == settings.dispatcher_group else LOOK_RECORDS_MAX
            for place in begin
        }
        for stuck in _try(log, begin, left, deadline):
            place = Partition(stuck.topic, stuck.partition)
            standing = behind[place]
            _ = deadline.left_s
            at = max(stuck.offset, begin[place])
            last = first_readable(log, place, at, standing.end) - 1
            first = begin[place] if standing.group == settings.dispatcher_group else at
            open_ = next((offset for offset in range(first, last + 1) if not standing.done(offset)), None)
            if open_ is None:
                further[place] = last + 1
            else:
                yield StuckPartition(standing, stuck, open_, last)
        begin = {place: offset for place, offset in further.items() if offset < behind[place].end}


def _behind(
    admin: LogAdmin, settings: Settings, topics: Mapping[str, int], deadline: Deadline
) -> Iterator[tuple[Partition, GroupPosition]]:
    """Partitions with something to do, whose map is sound."""
    for group, names in topics_of_groups(settings, list(topics)):
        with deadline.asking(ASK_S) as ask_s:
            found = standings(admin, group, partitions_of(topics, names), ask_s)
        for place, standing in found.items():
            if standing.distrust is None and standing.base < standing.end:
                yield place, standing


def _try(
    log: Log, begin: Mapping[Partition, int], left: dict[Partition, int], deadline: Deadline
) -> Iterator[Stuck]:
    """Those that are stuck within so many records, once each; nobody knows of one that is not heard of in `ASK_S`."""
    if not begin:
        return  # a reader of nothing would wait
    until_s = time.monotonic() + min(ASK_S, deadline.left_s)
    with closing(log.reader(begin)) as reader:
        while any(many > 0 for many in left.values()) and time.monotonic() < until_s:
            polled = reader.poll(RECORDS_MAX, POLL_S)
            for record in polled.records:
                left[Partition(record.topic(), record.partition())] -= 1
            for end in polled.ends:
                left[Partition(end.topic, end.partition)] = 0
            for stuck in polled.stuck:
                place = Partition(stuck.topic, stuck.partition)
                if left[place] > 0:
                    yield stuck
                left[place] = 0
