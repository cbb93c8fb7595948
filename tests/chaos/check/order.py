"""I9, second half: the runs whose answers were committed kept the order of the input."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from tests.chaos.check.evidence import Evidence, Outcome, Violation
from tests.chaos.inputs.plan import OrderKey

#: Starts are reckoned from two clocks' readings in whole ms, so neighbours may seem to overlap by this much.
ROUNDING_MS = 2

_Lane = tuple[OrderKey, str, int]


def in_session_order(evidence: Evidence) -> Iterator[Violation]:
    """One at a time, in input order, within (tenant, session, lane, input partition)."""
    for (key, topic, partition), outcomes in _runs(evidence).items():
        outcomes.sort(key=lambda outcome: outcome.source.offset)
        for earlier, later in pairwise(outcomes):
            assert earlier.ran_ms is not None
            assert later.ran_ms is not None
            if later.ran_ms[0] + ROUNDING_MS < earlier.ran_ms[1]:
                what = (
                    f"{key.session}/{key.lane} of {topic}/{partition}: offset {later.source.offset} started"
                    f" {earlier.ran_ms[1] - later.ran_ms[0]} ms before offset {earlier.source.offset} was done"
                )
                yield Violation("I9", what)


def _runs(evidence: Evidence) -> dict[_Lane, list[Outcome]]:
    runs: dict[_Lane, list[Outcome]] = defaultdict(list)
    for outcome in evidence.outputs:
        record = evidence.inputs.get(outcome.source)
        if record is not None and record.order is not None and outcome.ran_ms is not None:
            runs[record.order, outcome.source.topic, outcome.source.partition].append(outcome)
    return runs
