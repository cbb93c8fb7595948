"""Which lane's calls start next."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schemas.lane import LANES, Lane
from workers.lanes import PASSED_OVER_MAX, LaneTurns

PROVISIONED, INTERACTIVE, BATCH = LANES
counts = st.fixed_dictionaries({lane: st.integers(0, 60) for lane in LANES})


def test_the_highest_lane_goes_first() -> None:
    turns = LaneTurns().share({BATCH: 5, PROVISIONED: 2, INTERACTIVE: 1}, 4)
    assert turns == [(PROVISIONED, 2), (INTERACTIVE, 1), (BATCH, 1)]


def test_a_lane_alone_gets_every_slot() -> None:
    assert LaneTurns().share({BATCH: 500}, 300) == [(BATCH, 300)]


def test_nothing_waits_or_nothing_is_free() -> None:
    assert LaneTurns().share({}, 10) == []
    assert LaneTurns().share({BATCH: 3}, 0) == []


def test_the_lowest_lane_never_starves_under_endless_higher_work() -> None:
    lanes = LaneTurns()
    started: list[Lane] = []
    for _round in range(200):
        started += [
            turn.lane for turn in lanes.share({PROVISIONED: 1_000, INTERACTIVE: 1_000, BATCH: 1_000}, 1)
        ]
    assert started.count(BATCH) >= 200 // (PASSED_OVER_MAX + 2)
    assert started.count(INTERACTIVE) >= 200 // (PASSED_OVER_MAX + 2)
    assert started.count(PROVISIONED) > 150


@given(st.lists(st.tuples(counts, st.integers(0, 80)), max_size=20))
def test_slots_are_all_used_while_something_waits_and_no_lane_gives_more_than_it_has(
    rounds: list[tuple[dict[Lane, int], int]],
) -> None:
    lanes = LaneTurns()
    for waiting, slots in rounds:
        turns = lanes.share(waiting, slots)
        taken = dict.fromkeys(LANES, 0)
        for lane, calls in turns:
            assert calls > 0
            taken[lane] += calls
        assert sum(taken.values()) == min(slots, sum(waiting.values()))
        assert all(taken[lane] <= waiting[lane] for lane in LANES)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60))
def test_a_waiting_lane_is_passed_over_a_bounded_number_of_times(slots: list[int]) -> None:
    lanes = LaneTurns()
    passed = 0
    for free in slots:
        for lane, calls in lanes.share({INTERACTIVE: 1_000, BATCH: 1_000}, free):
            passed = 0 if lane is BATCH else passed + calls
            assert passed <= PASSED_OVER_MAX
