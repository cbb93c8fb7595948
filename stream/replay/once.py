"""Decisions about dead letters, each carried out once: what goes back and the marker share a transaction."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Literal, NamedTuple
from uuid import uuid4

from stream.config.settings import Settings
from stream.errors import LogError, LogFenced
from stream.log.base import Aborted, Fenced, Log, LogProducer, Outcome, Output, Success, Unknown, nowhere
from stream.replay.find import FoundLetter
from stream.replay.markers import Kind, Marker, Markers, digest_of, marker_record, system_ms

#: Dead letters that share a transaction.
BATCH_MAX: Final = 100
BATCH_BYTES_MAX: Final = 16 * 1024 * 1024
START_TIMEOUT_S: Final = 60.0
#: The same transaction again, before somebody should look at the broker.
ATTEMPTS_MAX: Final = 10


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


class Seams(NamedTuple):
    """What tests hand in."""

    #: Names this run, unlike any other.
    run: Callable[[], str] = lambda: uuid4().hex
    now_ms: Callable[[], int] = system_ms
    #: Called at the named points of each transaction.
    reach: Callable[[str], None] = nowhere


REAL: Final = Seams()


class _Renewed(Exception):
    """The id was taken anew before the transaction began: another command may have run meanwhile."""


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
        #: Runs that were over when this one began, and the life of the producer whose markers we have read.
        self._before = self.markers.runs
        self._life = 0 if producer is None else producer.lives

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
        """All in one transaction, or where one of them is refused, each in its own. Each is told once it is committed."""
        if self._producer is None:
            yield from (Done(step.found, "would") for step in batch)
            return
        cause = ""
        for _ in range(ATTEMPTS_MAX):
            if not batch:
                return
            match outcome := self._publish(self._producer, batch):
                case Success():
                    yield from map(_done, batch)
                    return
                case Fenced():
                    raise LogFenced(f"another replay, edit or resolve has started: {outcome.cause}")
                case Aborted(delivery=True):
                    yield from self._commit_singly(batch, outcome.cause)
                    return
                case Aborted():
                    cause = outcome.cause
                case Unknown():
                    cause = outcome.cause
                    batch = yield from self._left(self._producer, batch)
        if batch:
            raise LogError(f"it could not be committed {ATTEMPTS_MAX} times: {cause}")

    def _commit_singly(self, batch: Sequence[Step], refusal: str) -> Iterator[Done]:
        if len(batch) == 1:
            yield Done(batch[0].found, "refused", f"its topic takes no records: {refusal}")
            return
        for step in batch:
            yield from self.commit([step])

    def _publish(self, producer: LogProducer, batch: Sequence[Step]) -> Outcome:
        outputs = [output for step in batch for output in self._outputs(step)]
        try:
            return producer.publish(outputs, [], None, reach=self._reach)
        except _Renewed:
            return Unknown("the id was taken anew")

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

    def _reach(self, point: str) -> None:
        if self._producer is not None and self._producer.lives != self._life:
            raise _Renewed
        self._seams.reach(point)

    def _left(self, producer: LogProducer, batch: Sequence[Step]) -> Generator[Done, None, Sequence[Step]]:
        """Every transaction under the id is over once it is taken anew; the markers say what was done, and by whom."""
        producer.start(START_TIMEOUT_S)
        self._life = producer.lives
        self.markers.read()
        left = []
        for step in batch:
            marker = self.markers.of(step.found)
            if marker is not None and marker.run == self._run:
                yield _done(step)
            elif (earlier := self.earlier(step.found)) is not None:
                yield earlier
            else:
                left.append(step)
        return left


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


def _done(step: Step) -> Done:
    return Done(step.found, step.kind.value)
