"""A map after an operator passed some offsets."""

from __future__ import annotations

import random

import pytest

from stream.errors import UsageError
from stream.exactly_once.offset_map import OffsetMap, encode
from stream.exactly_once.skipped_map import passed


@pytest.mark.parametrize("seed", range(200))
def test_a_map_after_a_skip_says_done_of_what_it_said_before_and_of_the_skipped_alone(seed: int) -> None:
    rng = random.Random(seed)
    base = rng.choice([0, 1, 1000])
    incomplete = [base + offset for offset in sorted(rng.sample(range(40), rng.randrange(1, 20)))]
    found = OffsetMap.empty(base)
    if rng.random() < 0.8:
        found = OffsetMap(incomplete[0], incomplete[-1] + 1 + rng.randrange(9), tuple(incomplete), 2, None)
    first = found.base + rng.randrange(70)
    last = first + rng.randrange(9)
    after = passed(found, first, last)
    for offset in range(base, base + 100):
        assert after.says_done(offset) == (found.says_done(offset) or first <= offset <= last), offset
    assert len(encode(after)) <= 4095


def test_a_map_that_could_not_name_all_that_is_open_is_refused() -> None:
    with pytest.raises(UsageError, match="5000 offsets before 5000 are not done"):
        passed(OffsetMap.empty(0), 5000, 5001)
