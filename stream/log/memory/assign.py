"""Who reads which partition: Kafka's range and round-robin assignors. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

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


def assign_round_robin(topics: Mapping[str, int], wants: Mapping[str, frozenset[str]]) -> Assignment:
    """All partitions of all topics are dealt out in turn; who does not want a topic is passed over."""
    given: Assignment = {member: [] for member in sorted(wants)}
    turn = deque(given)
    for topic in sorted(topics):
        if not any(topic in wanted for wanted in wants.values()):
            continue
        for number in range(topics[topic]):
            while topic not in wants[turn[0]]:
                turn.rotate(-1)
            given[turn[0]].append(Partition(topic, number))
            turn.rotate(-1)
    return given
