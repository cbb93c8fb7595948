"""The end of a run: drain, stop, read back, judge."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from schemas.failure import ErrorClass
from tests.chaos.check.bites import ALWAYS
from tests.chaos.check.evidence import Bites, Ends, Evidence, Outcome, Place, Violation
from tests.chaos.check.verdict import violations
from tests.chaos.play.crashes import crashes
from tests.chaos.play.ends import wrong_ends
from tests.chaos.play.readback import Places, ReadBack, read_back
from tests.chaos.play.stacks import dump_stacks
from tests.chaos.play.stage import Stage

#: Longer than the transaction timeout of a role that died for good, and the broker's sweep.
STABLE_TIMEOUT_S: Final = 40.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a run showed."""

    violations: list[Violation]
    evidence: Evidence
    #: Ends that nobody asked for. Those that a supervisor mends are only told, the others are violations too.
    surprises: list[str]

    def summary(self) -> str:
        """One line."""
        bites, faults = self.evidence.bites, dict(self.evidence.bites.faults)
        return (
            f"{len(self.evidence.inputs)} inputs, {len(self.evidence.outputs)} outputs, aborted transactions"
            f" {bites.aborted_transactions}, hidden records {bites.hidden_records}, skipping restarts"
            f" {bites.skipping_restarts}, busy rebalances {bites.busy_rebalances}, {faults},"
            f" surprises {self.surprises or 'none'}, {len(self.violations)} violations"
        )


def judge(stage: Stage, *, drain_s: float, required: tuple[str, ...] = ALWAYS) -> Judgement:
    """Stops the stage's roles. Every invariant, over all that was written.

    Where faults must have bitten and the mix has answers that are too large, such must have been seen too.
    """
    if required and stage.mix.too_large_share:
        required = (*required, "too_large")
    drained = stage.drain(drain_s)
    if not drained:
        dump_stacks(stage.roles.values())
    stage.stop_roles()
    ends = _stable_ends(stage)
    stage.sampler.stop()
    stage.sampler.sample()
    evidence = _evidence(stage, _read_back(stage), ends)
    found = violations(evidence, required)
    if not drained and not found:
        found = [Violation("I4", f"not drained in {drain_s} s, yet nothing else is wrong")]
    found += [Violation("end", text) for text in wrong_ends(stage.surprises)]
    found += [Violation("crash", text) for text in crashes(stage.installation.logs)]
    found += [Violation("proxy", repr(failure)) for failure in stage.cluster.proxy.failures]
    found += [Violation("sampler", repr(failure)) for failure in stage.sampler.failures]
    return Judgement(found, evidence, stage.surprises)


def _too_large(outputs: Iterable[Outcome]) -> int:
    """Answers that their topic refused."""
    return sum(outcome.error_class == ErrorClass.TOO_LARGE for outcome in outputs)


def _stable_ends(stage: Stage) -> dict[Place, Ends]:
    """The ends once LSO == HW, or as they are after STABLE_TIMEOUT_S: of our topics and Kafka's own."""
    deadline = time.monotonic() + STABLE_TIMEOUT_S
    places = [
        place
        for place in stage.positions.partitions()
        if place[0].startswith((stage.installation.prefix, "__consumer_offsets"))
        and place not in stage.hung_before
    ]
    while True:
        ends = stage.positions.ends(places)
        if all(end.stable == end.high for end in ends.values()) or time.monotonic() > deadline:
            return ends
        time.sleep(0.5)


def _read_back(stage: Stage) -> ReadBack:
    installation = stage.installation
    topics = (installation.requests, *installation.outputs, installation.usage)
    where = Places(*(stage.positions.partitions([topic]) for topic in topics))
    return read_back(stage.cluster.direct, where, stage.plans, installation.dispatcher_group)


def _evidence(stage: Stage, back: ReadBack, ends: dict[Place, Ends]) -> Evidence:
    assert stage.reader is not None
    stage.reader.finish({place: marks[-1][0] + 1 for place, marks in back.final.items()})
    committed = stage.sampler.samples
    keys = [
        (group, *place)
        for group, topics in stage.installation.groups.items()
        for place in stage.positions.partitions(topics)
    ]
    aborts = sum(
        count
        for name, count in stage.cluster.proxy.aborts.items()
        if name.startswith(stage.installation.prefix)
    )
    bites = Bites(
        aborted_transactions=aborts + bool(back.hidden),
        hidden_records=back.hidden,
        skipping_restarts=stage.skipping_restarts,
        busy_rebalances=stage.sampler.busy_rebalances,
        faults=stage.bites + Counter(too_large=_too_large(back.outputs)),
    )
    return Evidence(
        inputs=back.inputs,
        outputs=back.outputs,
        usage=back.usage,
        concurrent=stage.reader.marks,
        final=back.final,
        progress={key: committed.get(key, []) for key in keys},
        ends=ends,
        expected=back.expected,
        bites=bites,
        order=stage.installation.shape.order,
    )
