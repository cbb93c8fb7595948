"""Puts originals back, each with its marker in one transaction: no dead letter goes twice unless asked to."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Final, Literal, NamedTuple
from uuid import uuid4

from stream.config.settings import Settings
from stream.errors import LogError, LogFenced
from stream.log.base import Aborted, Fenced, Log, LogProducer, Outcome, Output, Success, Unknown
from stream.replay.find import Found, Wanted, find_dead_letters
from stream.replay.markers import Markers, marker_of
from stream.replay.original import CannotReplay, Originals

#: Dead letters that share a transaction.
BATCH_MAX: Final = 100
BATCH_BYTES_MAX: Final = 16 * 1024 * 1024
START_TIMEOUT_S: Final = 60.0
#: The same transaction again, before somebody should look at the broker.
ATTEMPTS_MAX: Final = 10


class Replayed(NamedTuple):
    """What became of one dead letter. `would`: a dry run found nothing against it."""

    found: Found
    outcome: Literal["replayed", "would", "already", "refused"]
    #: Why it was refused.
    why: str = ""


class _Ready(NamedTuple):
    found: Found
    original: Output


class _Renewed(Exception):
    """The id was taken anew before the transaction began: another replay may have run meanwhile."""


def replay(
    log: Log,
    settings: Settings,
    wanted: Wanted,
    *,
    again: bool = False,
    dry_run: bool = False,
    run: Callable[[], str] = lambda: uuid4().hex,
) -> Iterator[Replayed]:
    """Replay what is wanted, in the order it died; each is told once it is committed.

    `again`: also what was replayed before. `dry_run`: nothing is written, and a replay under way is not disturbed.
    `run` names this run, unlike any other. LogFenced: another replay has started; LogError, LogTimeout.
    """
    producer = None if dry_run else log.producer(settings.own_topic("replay"))
    try:
        if producer is not None:
            producer.start(START_TIMEOUT_S)
        markers = Markers(log, settings)
        markers.read()
        yield from _Replay(log, settings, producer, markers, "" if dry_run else run(), again=again).run(
            wanted
        )
    finally:
        if producer is not None:
            producer.close()


class _Replay:
    """One run."""

    def __init__(
        self,
        log: Log,
        settings: Settings,
        producer: LogProducer | None,
        markers: Markers,
        run: str,
        *,
        again: bool,
    ) -> None:
        self._log = log
        self._settings = settings
        self._producer = producer
        self._markers = markers
        self._run = run
        self._again = again
        self._originals = Originals(log, settings)
        #: Runs that were over when this one began, and the life of the producer whose markers we have read.
        self._before = markers.runs
        self._life = 0 if producer is None else producer.lives

    def run(self, wanted: Wanted) -> Iterator[Replayed]:
        batch: list[_Ready] = []
        size = 0
        for found in find_dead_letters(self._log, self._settings, wanted):
            judged = self._judge(found)
            if isinstance(judged, Replayed):
                yield judged
                continue
            batch.append(judged)
            size += len(judged.original.value or b"")
            if len(batch) >= BATCH_MAX or size >= BATCH_BYTES_MAX:
                yield from self._send(batch)
                batch, size = [], 0
        yield from self._send(batch)

    def _judge(self, found: Found) -> _Ready | Replayed:
        if self._is_done(found):
            return Replayed(found, "already")
        try:
            ready = _Ready(found, self._originals.output(found.letter))
        except CannotReplay as why:
            return Replayed(found, "refused", str(why))
        return ready if self._producer is not None else Replayed(found, "would")

    def _is_done(self, found: Found) -> bool:
        """It was replayed, and is not to go again. LogFenced where another run did it beside this one."""
        run = self._markers.run_of(found)
        if run is None or (self._again and run in self._before):
            return False
        if self._again:
            raise LogFenced("another replay has run beside this one: look at what it did, and start again")
        return True

    def _send(self, batch: Sequence[_Ready]) -> Iterator[Replayed]:
        """All in one transaction, or where one of them is refused, each in its own."""
        if self._producer is None:
            return
        cause = ""
        for _ in range(ATTEMPTS_MAX):
            if not batch:
                return
            match outcome := self._publish(self._producer, batch):
                case Success():
                    yield from (Replayed(ready.found, "replayed") for ready in batch)
                    return
                case Fenced():
                    raise LogFenced(f"another replay has started: {outcome.cause}")
                case Aborted(delivery=True):
                    yield from self._send_singly(batch, outcome.cause)
                    return
                case Aborted():
                    cause = outcome.cause
                case Unknown():
                    cause = outcome.cause
                    batch = yield from self._left(self._producer, batch)
        if batch:
            raise LogError(f"the replay could not be committed {ATTEMPTS_MAX} times: {cause}")

    def _send_singly(self, batch: Sequence[_Ready], refusal: str) -> Iterator[Replayed]:
        if len(batch) == 1:
            yield Replayed(batch[0].found, "refused", f"its topic takes no records: {refusal}")
            return
        for ready in batch:
            yield from self._send([ready])

    def _publish(self, producer: LogProducer, batch: Sequence[_Ready]) -> Outcome:
        outputs = [
            output
            for ready in batch
            for output in (ready.original, marker_of(ready.found, self._settings, self._run))
        ]
        try:
            return producer.publish(outputs, [], None, reach=self._check_life)
        except _Renewed:
            return Unknown("the id was taken anew")

    def _check_life(self, _point: str) -> None:
        if self._producer is not None and self._producer.lives != self._life:
            raise _Renewed

    def _left(
        self, producer: LogProducer, batch: Sequence[_Ready]
    ) -> Generator[Replayed, None, Sequence[_Ready]]:
        """Every transaction under the id is over once it is taken anew; the markers say what was replayed, and by whom."""
        producer.start(START_TIMEOUT_S)
        self._life = producer.lives
        self._markers.read()
        left = []
        for ready in batch:
            if self._markers.run_of(ready.found) == self._run:
                yield Replayed(ready.found, "replayed")
            elif self._is_done(ready.found):
                yield Replayed(ready.found, "already")
            else:
                left.append(ready)
        return left
