"""Every partition has exactly one reader, and cooperative ones move little."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stream.log.base import Partition
from stream.log.memory_assign import Assignment, assign_range, assign_sticky

_TOPICS = st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers(1, 9), min_size=1)
_MEMBERS = st.sets(st.sampled_from(["m0", "m1", "m2", "m3"]), min_size=1)


def _everything(topics: dict[str, int]) -> list[Partition]:
    return sorted(Partition(topic, number) for topic, count in topics.items() for number in range(count))


def _given(assignment: Assignment) -> list[Partition]:
    return sorted(place for places in assignment.values() for place in places)


@given(_TOPICS, _MEMBERS)
def test_range_gives_each_partition_once(topics: dict[str, int], members: set[str]) -> None:
    assignment = assign_range(topics, {member: frozenset(topics) for member in members})
    assert _given(assignment) == _everything(topics)


@given(_TOPICS, _MEMBERS, _MEMBERS)
def test_sticky_gives_each_partition_once_in_equal_shares_and_keeps_what_fits(
    topics: dict[str, int], before: set[str], after: set[str]
) -> None:
    first = assign_sticky(topics, {member: frozenset(topics) for member in before}, {})
    second = assign_sticky(topics, {member: frozenset(topics) for member in after}, first)
    assert _given(second) == _everything(topics)
    sizes = [len(places) for places in second.values()]
    assert max(sizes) - min(sizes) <= 1
    for member in before & after:
        kept = set(first[member]) & set(second[member])
        assert len(kept) == min(len(first[member]), len(second[member]))
