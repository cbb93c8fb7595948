"""Decisions on their way through one transaction: what goes back and the markers together; the markers are the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from stream.exactly_once.abort_policy import Action, Contents
from stream.exactly_once.halving import Halving
from stream.log.base import Aborted, OffsetCommit, Output
from stream.replay.find import FoundLetter
from stream.replay.markers import Kind, Markers

#: Dead letters that share a transaction.
BATCH_MAX: Final = 100


class Done(NamedTuple):
    """What became of one dead letter. `would`: a dry run found nothing against it. `already`: it went back before."""

    found: FoundLetter
    outcome: Literal["replayed", "edited", "closed", "would", "already", "was closed", "refused"]
    #: Why it was refused, or closed before.
    why: str = ""


class Step(NamedTuple):
    """A decision about one dead letter. `back`: the record that returns to its input topic."""

    found: FoundLetter
    kind: Kind
    back: Output | None = None
    reason: str | None = None


def carried_out(step: Step) -> Done:
    return Done(step.found, step.kind.value)


class MarkerOracle:
    """Every transaction under the id is over when it is asked: the markers say what was done, and by whom."""

    def __init__(self, markers: Markers) -> None:
        self._markers = markers

    def committed(self, offsets: Sequence[OffsetCommit], deadline_s: float) -> Markers:  # noqa: ARG002
        self._markers.read()
        return self._markers


@dataclass(slots=True)
class StepQueue:
    """Steps that are not carried out, in order; a transaction takes a prefix."""

    waiting: list[Step]
    halving: Halving = field(default_factory=lambda: Halving(BATCH_MAX))


class StepsTransaction:
    """Its steps leave the queue with what became of them, which `done` tells."""

    #: A replay has no group.
    offsets: Sequence[OffsetCommit] = ()

    def __init__(
        self,
        queue: StepQueue,
        run: str,
        outputs_of: Callable[[Step], Iterable[Output]],
        earlier: Callable[[FoundLetter], Done | None],
    ) -> None:
        self._queue = queue
        self._run = run
        self._earlier = earlier
        self._steps = queue.waiting[: queue.halving.cap]
        self.done: list[Done] = []
        self.outputs = [output for step in self._steps for output in outputs_of(step)]
        topics = {step.back.topic for step in self._steps if step.back is not None}
        self.contents = Contents(len(self._steps), topics)

    def committed(self) -> None:
        self._end(map(carried_out, self._steps))
        self._queue.halving.succeeded()

    def aborted(self, outcome: Aborted, action: Action) -> None:
        """Whatever is refused takes its neighbours along: halve until it stands alone."""
        if action is Action.BACK_OFF:
            return
        if len(self._steps) > 1:
            self._queue.halving.failed(len(self._steps))
        else:
            why = f"its topic takes no records: {outcome.cause}"
            self._end([Done(self._steps[0].found, "refused", why)])

    def reconciled(self, found: Markers) -> bool:
        left: list[Step] = []
        for step in self._steps:
            marker = found.of(step.found)
            if marker is not None and marker.run == self._run:
                self.done.append(carried_out(step))
            elif (earlier := self._earlier(step.found)) is not None:
                self.done.append(earlier)
            else:
                left.append(step)
        self._queue.waiting[: len(self._steps)] = left
        return not left

    def _end(self, done: Iterable[Done]) -> None:
        self.done.extend(done)
        del self._queue.waiting[: len(self._steps)]
