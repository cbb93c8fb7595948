"""I1, I2, I7 and the first half of I9: each visible input has one output, and it is the right one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from schemas.failure import ErrorClass
from schemas.headers import OWN_PREFIX
from schemas.source import Source
from tests.chaos.check.evidence import Evidence, Input, Outcome, Violation


def exactly_one_output(evidence: Evidence) -> Iterator[Violation]:
    """I1: a result or a dead letter for each visible input, never both, never none, never two."""
    outputs = _by_source(evidence)
    for source in evidence.inputs:
        found = outputs.get(source, [])
        if len(found) != 1:
            kinds = ", ".join(
                f"{o.error_class or 'result'} at {o.place[0]}/{o.place[1]}/{o.offset}" for o in found
            )
            yield Violation("I1", f"{source} has {len(found)} outputs: {kinds or 'none'}")


def nothing_for_the_invisible(evidence: Evidence) -> Iterator[Violation]:
    """I2: no output for what was aborted or never written."""
    for outcome in evidence.outputs:
        if outcome.source not in evidence.inputs:
            yield Violation("I2", f"{outcome.source} is not visible, yet {outcome.place} holds its output")


def exact_usage(evidence: Evidence) -> Iterator[Violation]:
    """I1 for usage: one record for what a worker ended, answered or not, none for what no worker took or nobody sees."""
    counted = Counter(evidence.usage)
    worked = {outcome.source for outcome in evidence.outputs if outcome.worked}
    for source in worked | counted.keys():
        wanted = int(source in worked)
        if counted[source] != wanted:
            yield Violation("I1", f"{source} has {counted[source]} usage records, expected {wanted}")
        if source not in evidence.inputs:
            yield Violation("I2", f"{source} is not visible, yet has a usage record")


def right_payload(evidence: Evidence) -> Iterator[Violation]:
    """I7: the answer is the deterministic engine's, a dead letter's value the original's; so are key and headers."""
    for outcome in evidence.outputs:
        record = evidence.inputs.get(outcome.source)
        if record is not None:
            yield from _payload_of(record, outcome, evidence.expected.get(outcome.source))
            yield from _envelope_of(record, outcome)


def right_class(evidence: Evidence) -> Iterator[Violation]:
    """I9, first half: records die exactly as and where planned; above all, `poison` hits the poisonous only."""
    for outcome in evidence.outputs:
        record = evidence.inputs.get(outcome.source)
        if record is not None and outcome.error_class != record.dies_as:
            wanted = record.dies_as or "a result"
            got = outcome.error_class or "a result"
            poison = ErrorClass.POISON in (outcome.error_class, record.dies_as)
            yield Violation(
                "I9" if poison else "I7", f"{outcome.source} ended as {got}, planned was {wanted}"
            )
        elif record is not None and outcome.stage != record.dies_at:
            yield Violation("I7", f"{outcome.source} ended at {outcome.stage}, planned was {record.dies_at}")


def _envelope_of(record: Input, outcome: Outcome) -> Iterator[Violation]:
    """The producer's key and headers, byte for byte and in order; control headers end with the record's way."""
    headers = record.headers
    if outcome.error_class is None:
        headers = tuple(header for header in headers if not header[0].startswith(OWN_PREFIX))
    if outcome.key != record.key:
        yield Violation("I7", f"{outcome.source}: key {outcome.key!r}, expected {record.key!r}")
    if outcome.headers != headers:
        yield Violation("I7", f"{outcome.source}: headers {outcome.headers}, expected {headers}")


def _payload_of(record: Input, outcome: Outcome, expected: str | None) -> Iterator[Violation]:
    if outcome.error_class is None and expected is not None and outcome.answer != expected:
        yield Violation("I7", f"{outcome.source}: answer {outcome.answer!r:.200}, expected {expected!r:.200}")
    if outcome.error_class is not None and outcome.original != record.value:
        yield Violation("I7", f"{outcome.source}: the dead letter does not hold the original value")


def _by_source(evidence: Evidence) -> dict[Source, list[Outcome]]:
    outputs: dict[Source, list[Outcome]] = defaultdict(list)
    for outcome in evidence.outputs:
        outputs[outcome.source].append(outcome)
    return outputs
