"""Partitions whose committed map cannot be trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from schemas.lane import LANES
from stream.client.deadline import Deadline
from stream.client.group_position import GroupPosition, partitions_of, standings
from stream.config.patterns import TopicPattern
from stream.config.settings import Settings
from stream.errors import UsageError
from stream.log.base import LogAdmin, Partition

ASK_S = 10.0
#: Of a partition of a work topic that a worker refuses all the same.
NEWER = (
    "where a worker refuses it all the same, its log names a record of a newer `headrace-version`: "
    "start workers of that version, a reset would lose what waits there"
)


def distrusted(
    admin: LogAdmin, settings: Settings, topics: Mapping[str, int], deadline: Deadline
) -> Iterator[GroupPosition]:
    """Over all groups of the installation."""
    for group, names in topics_of_groups(settings, list(topics)):
        with deadline.asking(ASK_S) as ask_s:
            found = standings(admin, group, partitions_of(topics, names), ask_s)
        yield from (standing for standing in found.values() if standing.distrust is not None)


def distrusted_one(admin: LogAdmin, settings: Settings, wanted: Partition) -> GroupPosition:
    """This partition's standing; UsageError when no group reads it, or its map is sound."""
    group = group_of(admin, settings, wanted)
    standing = standings(admin, group, [wanted])[wanted]
    if standing.distrust is None:
        sound = f"{wanted.topic}/{wanted.partition} is not set aside: its map is sound"
        raise UsageError(sound if group == settings.dispatcher_group else f"{sound}; {NEWER}")
    return standing


def group_of(admin: LogAdmin, settings: Settings, wanted: Partition) -> str:
    """The group that reads this partition; UsageError: none does."""
    topics = admin.topics(ASK_S)
    if not 0 <= wanted.partition < topics.get(wanted.topic, 0):
        raise UsageError(f"no partition {wanted.topic}/{wanted.partition}")
    for group, names in topics_of_groups(settings, list(topics)):
        if wanted.topic in names:
            return group
    raise UsageError(f"{wanted.topic} is neither an input nor a work topic of this installation")


def topics_of_groups(settings: Settings, topics: list[str]) -> Iterator[tuple[str, list[str]]]:
    inputs = [TopicPattern(binding.pattern) for binding in settings.inputs]
    yield settings.dispatcher_group, [topic for topic in topics if any(one.matches(topic) for one in inputs)]
    for endpoint in settings.endpoints:
        yield settings.worker_group(endpoint), [settings.work_topic(endpoint, lane) for lane in LANES]
