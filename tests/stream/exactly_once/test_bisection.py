"""How the answers that cannot be delivered are found, and what becomes of the others meanwhile."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream.exactly_once.bisection import SUSPECTS_MAX, Bisection
from stream.exactly_once.selection import Caps
from stream.exactly_once.work_item import OWN, WorkItem
from tests.stream.exactly_once.test_selection import alone, answer

SMALL, LARGE = 300, 200_000


class Search:
    """Transactions until every answer is published or given up."""

    def __init__(self, answers: Sequence[WorkItem], guilty: Collection[WorkItem]) -> None:
        self.narrowing = Bisection(2_000)
        self.aborts = self.commits = 0
        self.ended: list[WorkItem] = []
        ready = list(answers)
        while ready:
            chosen = self.narrowing.select([ready], OWN, alone, Caps(self.narrowing.cap(OWN), 10**12), {})
            assert chosen
            assert self.aborts + self.commits < 10 * len(answers) + 100, "no end"
            if not any(one in guilty for one in chosen):
                self.commits += 1
                self.narrowing.succeeded(OWN, chosen)
            else:
                self.aborts += 1
                if len(chosen) > 1:
                    self.narrowing.failed(OWN, chosen)
                    continue
                self.narrowing.gave_up(OWN, chosen[0])
            self.ended += chosen
            ready = [one for one in ready if one not in chosen]


@pytest.mark.parametrize("count", [1, 5, SUSPECTS_MAX])
def test_a_few_large_answers_cost_one_failure_each_and_one_more(count: int) -> None:
    answers = [answer(size=LARGE if place < count else SMALL) for place in range(1_500)]
    search = Search(answers, answers[:count])
    assert search.aborts == count + 1
    assert search.commits <= 1


def test_large_answers_that_fit_are_published_alone() -> None:
    answers = [answer(size=size) for size in (SMALL, LARGE, LARGE + 1, SMALL)]
    search = Search(answers, [answers[2]])
    assert (search.aborts, len(search.ended)) == (2, 4)


@pytest.mark.parametrize("guilty", [0, 7, 255, 1_999])
def test_where_no_size_stands_out_halving_finds_it_after_few_failures(guilty: int) -> None:
    answers = [answer() for _ in range(2_000)]
    search = Search(answers, [answers[guilty]])
    assert search.aborts <= 20
    for _ in range(12):
        search.narrowing.succeeded(OWN, [])
    assert not search.narrowing.searching(OWN)


def test_others_and_suspects_take_turns() -> None:
    narrowing, caps = Bisection(100), Caps(100, 10**12)
    suspects = [answer(size=LARGE), answer(size=LARGE)]
    narrowing.failed(OWN, [*suspects, answer(size=SMALL)])
    kinds = []
    for _ in range(4):  # others come again and again
        chosen = narrowing.select([[*suspects, answer(), answer()]], OWN, alone, caps, {})
        kinds.append(len(chosen))
        narrowing.succeeded(OWN, chosen)
        suspects = [one for one in suspects if one not in chosen]
    assert kinds == [2, 1, 2, 1]


def test_a_suspect_that_is_not_ours_any_more_is_forgotten() -> None:
    narrowing = Bisection(100)
    suspect, other = answer(size=LARGE), answer(size=SMALL)
    narrowing.failed(OWN, [suspect, other])
    suspect.ledger = None
    narrowing.succeeded(OWN, [other])
    again = [answer(size=LARGE), answer()]
    assert narrowing.select([again], OWN, alone, Caps(100, 10**12), {}) == again


@given(
    st.lists(
        st.tuples(st.sampled_from("abc-"), st.sampled_from([1, 2, 300, 301, 9_000]), st.booleans()),
        max_size=60,
    )
)
def test_every_answer_ends_once_and_in_the_order_of_its_session(given_: list[tuple[str, int, bool]]) -> None:
    answers = [answer(session=None if name == "-" else name, size=size) for name, size, _ in given_]
    search = Search(answers, [one for one, (_, _, bad) in zip(answers, given_, strict=True) if bad])
    assert len(search.ended) == len(answers) == len(set(search.ended))
    of_session: dict[object, list[int]] = defaultdict(list)
    for one in search.ended:
        if one.session is not None:
            of_session[one.session].append(answers.index(one))
    assert all(places == sorted(places) for places in of_session.values())
