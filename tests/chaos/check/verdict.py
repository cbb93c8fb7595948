"""All invariants at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from tests.chaos.check import order, outputs, positions
from tests.chaos.check.bites import ALWAYS, faults_bit
from tests.chaos.check.evidence import Evidence, Violation

INVARIANTS: tuple[Callable[[Evidence], Iterator[Violation]], ...] = (
    outputs.exactly_one_output,
    outputs.nothing_for_the_invisible,
    outputs.exact_usage,
    outputs.right_payload,
    outputs.right_class,
    positions.same_for_both_readers,
    positions.committed_to_the_end,
    positions.progress_only_grows,
    positions.nothing_hangs,
    order.in_session_order,
)


def violations(evidence: Evidence, required: tuple[str, ...] = ALWAYS) -> list[Violation]:
    """Every violation of I1 to I9; empty means that the run proves the guarantee."""
    found = chain.from_iterable(invariant(evidence) for invariant in INVARIANTS)
    return [*found, *faults_bit(evidence.bites, required)]
