"""A hunt whose faults did not bite proves nothing, and says so."""

from __future__ import annotations

import pytest

from tests.chaos.check.bites import ALWAYS
from tests.chaos.check.evidence import Bites, Evidence, Violation
from tests.chaos.play.judge import Judgement
from tests.chaos.tally import WHOLE, WHOLE_MINUTES, WHOLE_ROUNDS, Tally


def judged(bites: Bites, *violations: Violation) -> Judgement:
    return Judgement(list(violations), Evidence({}, [], [], {}, {}, {}, {}, {}, bites), [])


def everything() -> Bites:
    return Bites(1, 1, 1, 1, {names[0]: 1 for names in WHOLE.values()})


def hunt(bites: Bites, *, minutes: float = WHOLE_MINUTES, rounds: int = 1) -> Tally:
    tally = Tally()
    for seed in range(rounds):
        tally.add(seed, judged(bites))
    tally.minutes = minutes
    return tally


def test_a_whole_hunt_in_which_all_happened_is_green() -> None:
    tally = hunt(everything())
    assert (tally.missing, tally.is_red) == ([], False)
    assert "VOID" not in tally.report()


@pytest.mark.parametrize("what", WHOLE)
@pytest.mark.parametrize(("minutes", "rounds"), [(WHOLE_MINUTES, 1), (0.0, WHOLE_ROUNDS)])
def test_one_in_which_something_never_happened_is_void(what: str, minutes: float, rounds: int) -> None:
    shown = {**everything().faults, **dict.fromkeys(WHOLE[what], 0)}
    aborted, hidden, skipping, busy = (int(what != name) for name in ALWAYS)
    bites = Bites(aborted, hidden, skipping, busy, shown)
    tally = hunt(bites, minutes=minutes, rounds=rounds)
    assert (tally.missing, tally.is_red) == ([what], True)
    assert tally.report().endswith(f"VOID: never happened: {what}")


def test_a_short_one_needs_any_bite_at_all() -> None:
    assert not hunt(Bites(faults={"kill": 1}), minutes=1.0).is_red
    assert hunt(Bites(), minutes=1.0).missing == ["anything"]


def test_a_violation_is_red_whatever_bit() -> None:
    tally = hunt(everything())
    tally.add(7, judged(everything(), Violation("I1", "lost")))
    assert tally.is_red
    assert "1 violations in rounds [7]" in tally.report()
