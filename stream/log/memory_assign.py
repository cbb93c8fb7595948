"""Who reads which partition: Kafka's range assignor, and a cooperative one that moves as little as it can. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stream.log.base import Partition

#: Member name -> its partitions.
Assignment = dict[str, list[Partition]]


def assign_range(topics: Mapping[str, int], wants: Mapping[str, frozenset[str]]) -> Assignment:
    """`topics`: partitions of each; `wants`: topics of each member. Members in the order of their names."""
    given: Assignment = {member: [] for member in sorted(wants)}
    for topic in sorted(topics):
        members = [member for member in given if topic in wants[member]]
        if not members:
            continue
        each, more = divmod(topics[topic], len(members))
        begin = 0
        for place, member in enumerate(members):
            count = each + (place < more)
            given[member] += [Partition(topic, number) for number in range(begin, begin + count)]
            begin += count
    return given


def assign_sticky(
    topics: Mapping[str, int], wants: Mapping[str, frozenset[str]], owned: Mapping[str, Sequence[Partition]]
) -> Assignment:
    """Equal shares; each member keeps of what it owns as much as its share allows."""
    everything = [Partition(topic, number) for topic in sorted(topics) for number in range(topics[topic])]
    share, more = divmod(len(everything), max(1, len(wants)))
    # Those that own most get the larger shares, so that they give the least away.
    members = sorted(wants, key=lambda member: (-len(owned.get(member, ())), member))
    quota = {member: share + (place < more) for place, member in enumerate(members)}
    free = set(everything)
    given: Assignment = {}
    for member in members:
        kept = [part for part in owned.get(member, ()) if part in free and part.topic in wants[member]]
        given[member] = kept[: quota[member]]
        free.difference_update(given[member])
    for part in sorted(free):
        takers = [member for member in members if part.topic in wants[member]]
        if takers:
            given[min(takers, key=lambda member: len(given[member]) - quota[member])].append(part)
    return given
