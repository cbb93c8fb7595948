"""Every partition has exactly one reader."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stream.log.base import Partition
from stream.log.memory.assign import Assignment, assign_range, assign_round_robin

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


@given(_TOPICS, _MEMBERS)
def test_round_robin_gives_each_partition_once_in_equal_shares(
    topics: dict[str, int], members: set[str]
) -> None:
    assignment = assign_round_robin(topics, {member: frozenset(topics) for member in members})
    assert _given(assignment) == _everything(topics)
    sizes = [len(places) for places in assignment.values()]
    assert max(sizes) - min(sizes) <= 1


def test_round_robin_passes_over_who_does_not_want_a_topic() -> None:
    wants = {"m0": frozenset({"a"}), "m1": frozenset({"a", "b"})}
    assert assign_round_robin({"a": 2, "b": 2, "c": 1}, wants) == {
        "m0": [Partition("a", 0)],
        "m1": [Partition("a", 1), Partition("b", 0), Partition("b", 1)],
    }
