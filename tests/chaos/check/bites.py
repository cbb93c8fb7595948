"""I8: a run proves something only if its faults bit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.chaos.check.evidence import Bites, Violation

#: What every run must show unless its scenario says otherwise.
ALWAYS: Final = ("aborted_transactions", "hidden_records", "skipping_restarts", "busy_rebalances")


def faults_bit(bites: Bites, required: tuple[str, ...] = ALWAYS) -> Iterator[Violation]:
    """Each required name, one of ALWAYS or a fault's own, at least once."""
    for name in required:
        count = getattr(bites, name) if name in ALWAYS else bites.faults.get(name, 0)
        if not count:
            yield Violation("I8", f"the run is void: {name} never happened")
