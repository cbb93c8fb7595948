"""I9, second half: outputs of a session were committed in the order of the input; with `serial` its runs kept it too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

from schemas.source import Source
from tests.chaos.check.evidence import Evidence, Outcome, Place, Violation
from tests.chaos.inputs.plan import OrderKey

#: Starts are reckoned from two clocks' readings in whole ms, so neighbours may seem to overlap by this much.
ROUNDING_MS = 2

#: A session, its lane, and the input partition.
_Line = tuple[OrderKey, str, int]


def in_session_order(evidence: Evidence) -> Iterator[Violation]:
    """Within (tenant, session, lane, input partition)."""
    if evidence.order == "none":
        return
    yield from _outputs_in_order(evidence)
    if evidence.order == "serial":
        yield from _one_run_at_a_time(evidence)


def _outputs_in_order(evidence: Evidence) -> Iterator[Violation]:
    """On each partition of the outputs, and over all of them: a tenant's usage is on one partition, in the same
    transactions.
    """
    by_place: dict[Place, list[Outcome]] = defaultdict(list)
    for outcome in evidence.outputs:
        by_place[outcome.place].append(outcome)
    for place, outcomes in by_place.items():
        outcomes.sort(key=lambda outcome: outcome.offset)
        yield from _ascending(evidence, f"on {place[0]}/{place[1]}", (each.source for each in outcomes))
    yield from _ascending(evidence, "by the usage records", evidence.usage)


def _ascending(evidence: Evidence, where: str, sources: Iterable[Source]) -> Iterator[Violation]:
    last: dict[_Line, Source] = {}
    for source in sources:
        line = _line_of(evidence, source)
        if line is None:
            continue
        before = last.get(line)
        if before is not None and source.offset < before.offset:
            yield Violation("I9", f"{_name(line)}: offset {source.offset} came after {before.offset} {where}")
        last[line] = source


def _one_run_at_a_time(evidence: Evidence) -> Iterator[Violation]:
    """Of the runs whose answers were committed."""
    runs: dict[_Line, list[Outcome]] = defaultdict(list)
    for outcome in evidence.outputs:
        line = _line_of(evidence, outcome.source)
        if line is not None and outcome.ran_ms is not None:
            runs[line].append(outcome)
    return chain.from_iterable(_overlaps(line, outcomes) for line, outcomes in runs.items())


def _overlaps(line: _Line, outcomes: list[Outcome]) -> Iterator[Violation]:
    outcomes.sort(key=lambda outcome: outcome.source.offset)
    for earlier, later in pairwise(outcomes):
        assert earlier.ran_ms is not None
        assert later.ran_ms is not None
        if later.ran_ms[0] + ROUNDING_MS < earlier.ran_ms[1]:
            what = (
                f"{_name(line)}: offset {later.source.offset} started {earlier.ran_ms[1] - later.ran_ms[0]} ms"
                f" before offset {earlier.source.offset} was done"
            )
            yield Violation("I9", what)


def _line_of(evidence: Evidence, source: Source) -> _Line | None:
    """None: it stands outside any session, or nobody may see it."""
    record = evidence.inputs.get(source)
    if record is None or record.order is None:
        return None
    return record.order, source.topic, source.partition


def _name(line: _Line) -> str:
    key, topic, partition = line
    return f"{key.session}/{key.lane} of {topic}/{partition}"
