"""Decisions about dead letters, each carried out once: what goes back and the marker share a transaction."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple
from uuid import uuid4

from stream.config.settings import Settings
from stream.errors import LogError, LogFenced
from stream.exactly_once.outcome import OutcomeMachine
from stream.log.base import Log, LogProducer, Output, nowhere
from stream.replay.find import FoundLetter
from stream.replay.markers import Kind, Marker, Markers, digest_of, marker_record, system_ms
from stream.replay.steps_transaction import BATCH_MAX, Done, MarkerOracle, Step, StepQueue, StepsTransaction
from stream.retry import BackOff

BATCH_BYTES_MAX: Final = 16 * 1024 * 1024
START_TIMEOUT_S: Final = 60.0
#: The same transaction again, before somebody should look at the broker.
ATTEMPTS_MAX: Final = 10


class Seams(NamedTuple):
    """What tests hand in."""

    #: Names this run, unlike any other.
    run: Callable[[], str] = lambda: uuid4().hex
    now_ms: Callable[[], int] = system_ms
    #: Called at the named points of each transaction.
    reach: Callable[[str], None] = nowhere
    clock_s: Callable[[], float] = time.monotonic


REAL: Final = Seams()


@contextmanager
def once(
    log: Log, settings: Settings, seams: Seams = REAL, *, again: bool = False, dry_run: bool = False
) -> Iterator[Once]:
    """The turn of one command: whoever had it before is fenced, its transaction over.

    `dry_run`: nothing is written, and a command under way is not disturbed.
    """
    producer = None if dry_run else log.producer(settings.own_topic("replay"))
    try:
        if producer is not None:
            producer.start(START_TIMEOUT_S)
        yield Once(log, settings, producer, seams, again=again)
    finally:
        if producer is not None:
            producer.close()


class Once:
    """One command's turn. LogFenced: another has started; LogError, LogTimeout."""

    def __init__(
        self, log: Log, settings: Settings, producer: LogProducer | None, seams: Seams, *, again: bool
    ) -> None:
        self._settings = settings
        self._producer = producer
        self._seams = seams
        self._again = again
        self._run = seams.run()
        self.markers = Markers(log, settings)
        self.markers.read()
        #: Runs that were over when this one began.
        self._before = self.markers.runs
        self._outcomes = None if producer is None else self._outcome_machine(producer)

    def _outcome_machine(self, producer: LogProducer) -> OutcomeMachine[Markers]:
        """Exclusive: between two lives of the producer another command may have run."""
        return OutcomeMachine(
            producer,
            MarkerOracle(self.markers),
            BackOff(0.0, 0.0),
            clock_s=self._seams.clock_s,
            reach=self._seams.reach,
            exclusive=True,
            fenced_words="another replay, edit or resolve has started",
        )

    def earlier(self, found: FoundLetter) -> Done | None:
        """What stands against a decision: one that was made before. LogFenced where another command made it beside us."""
        marker = self.markers.of(found)
        if marker is None or (self._again and marker.run in self._before):
            return None
        if self._again:
            raise LogFenced("another replay, edit or resolve has run beside this one: look at what it did")
        if marker.kind == Kind.CLOSED:
            return Done(found, "was closed", marker.reason or "")
        return Done(found, "already", "with an edited value" if marker.kind == Kind.EDITED else "")

    def commit(self, batch: Sequence[Step]) -> Iterator[Done]:
        """All in one transaction, or where one of them is refused, without it. Each is told once it is committed."""
        if self._outcomes is None:
            yield from (Done(step.found, "would") for step in batch)
            return
        queue = StepQueue(list(batch))
        while queue.waiting:
            pending = StepsTransaction(queue, self._run, self._outputs, self.earlier)
            self._outcomes.settle(pending, self._outcomes.publish(pending, None))
            yield from pending.done
            back_off = self._outcomes.back_off
            if queue.waiting and back_off.failures >= ATTEMPTS_MAX:
                raise LogError(f"it could not be committed {ATTEMPTS_MAX} times: {back_off.cause}")

    def _outputs(self, step: Step) -> Iterator[Output]:
        if step.back is not None:
            yield step.back
        marker = Marker(
            str(step.found.letter.source),
            self._run,
            step.kind,
            self._seams.now_ms(),
            step.reason,
            None if step.back is None else digest_of(step.back.value),
        )
        yield marker_record(step.found, marker, self._settings)


def batches(steps: Iterator[Step | Done]) -> Iterator[Sequence[Step] | Done]:
    """What may share a transaction; what is done already passes at once."""
    batch: list[Step] = []
    size = 0
    for step in steps:
        if isinstance(step, Done):
            yield step
            continue
        batch.append(step)
        size += len(step.back.value or b"") if step.back is not None else 0
        if len(batch) >= BATCH_MAX or size >= BATCH_BYTES_MAX:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
