"""The dispatcher's turn: read, route, commit; and its start and stop, in the order that exactly-once needs."""

from __future__ import annotations

import logging

from schemas.decode import Decoder
from stream.config.settings import Settings, slot_name
from stream.dispatcher.assignment import Assignment
from stream.dispatcher.batch import Batches
from stream.dispatcher.batch_transaction import Effects
from stream.dispatcher.bindings import Bindings
from stream.dispatcher.commits import Commits
from stream.dispatcher.dead_letters import DeadLetters
from stream.dispatcher.dependencies import DispatcherDependencies
from stream.dispatcher.intake import Intake
from stream.dispatcher.lag_watch import LagWatch
from stream.dispatcher.placement import Placement
from stream.dispatcher.progress import Progress
from stream.dispatcher.rejection import Rejections
from stream.dispatcher.reply_topics import ReplyTopicChecks
from stream.dispatcher.router import Router
from stream.dispatcher.tally import Tally
from stream.exactly_once.halving import Halving
from stream.log.base import LogAdmin
from stream.log.fence import twins_told_apart

log = logging.getLogger(__name__)

#: New topics that match a pattern are found within this.
REGEX_REFRESH_MS = 3_000
#: A stop waits for the batch at hand so long at most; what is not committed then is read again by the next start.
DRAIN_S = 10.0


def nothing() -> None:
    """A drain reads no more."""


class Dispatcher:
    """One member of the dispatchers' group. `run` returns when it was asked to stop."""

    def __init__(self, settings: Settings, slot: int, parts: DispatcherDependencies, admin: LogAdmin) -> None:
        name = slot_name(settings.dispatcher_group, slot)
        self._parts = parts
        self._records_max = settings.limits.txn_records_max
        self._batches = Batches()
        self._bindings = Bindings(settings)
        self._producer = parts.log.producer(name)
        self._consumer = parts.log.consumer(
            settings.dispatcher_group,
            name,
            assignor="roundrobin",
            regex_refresh_ms=REGEX_REFRESH_MS,
        )
        self._owned = Assignment(self._consumer, admin, self._bindings, self._batches, parts)
        letters = DeadLetters(settings, admin)
        targets = ReplyTopicChecks(settings, admin, parts.clock_s)
        router = self._router(settings, letters, targets, admin)
        self._intake = Intake(self._owned, router, self._batches, parts)
        tally = Tally(settings, parts.metrics, parts.now_ms)
        effects = Effects(
            Progress(self._owned), Halving(self._records_max), tally, letters.substitute, targets
        )
        self._commits = Commits(self._producer, self._owned, self._batches, settings.limits, parts, effects)
        self._lag = LagWatch(self._owned, self._batches, admin, parts)
        self._running = False

    def _router(
        self, settings: Settings, letters: DeadLetters, targets: ReplyTopicChecks, admin: LogAdmin
    ) -> Router:
        decoder = Decoder(
            avro=self._bindings.avro,
            registry=self._parts.registry,
            value_bytes_max=settings.limits.value_bytes_max,
        )
        refusals = Rejections(settings, letters, targets, self._batches)
        places = Placement(settings, admin.topics(self._parts.rules.offsets_try_s))
        return Router(settings, places, decoder, targets, refusals)

    def run(self) -> None:
        """Start, turn until stopped, drain, close. What it raises ends the process."""
        try:
            with twins_told_apart(self._producer, self._consumer):
                self._live()
        finally:
            self.close()

    def _live(self) -> None:
        self.start()
        while not self._parts.stopped():
            self.turn()
        self._parts.report("draining")
        self._drain()

    def start(self) -> None:
        """The producer first: it ends the predecessor's transaction, which the committed offsets wait for."""
        self._producer.start(self._parts.rules.init_s)
        self._consumer.subscribe(self._bindings.subscription, self._owned)

    def close(self) -> None:
        """Leave at once; what is not committed is read again by the next owner."""
        self._consumer.close()
        self._producer.close()

    def turn(self) -> None:
        """One round: at most one poll and one transaction."""
        if self._commits.troubled:
            self._intake.serve(self._commits.back_off_s)
        elif not self._batches.waiting:
            self._intake.read(self._records_max, self._patience_s())
        self._commits.commit(self._read_ahead)
        self._lag.look()
        self._owned.look_again()
        self._owned.ask_coordinator()
        if not self._running and self._owned.joined:
            self._running = True
            self._parts.report("running")

    def _read_ahead(self) -> None:
        """The transaction is on its way to Kafka: read and route what comes next, but wait for nothing."""
        if not len(self._batches.reading):
            self._intake.read(self._records_max, 0)

    def _patience_s(self) -> float:
        rules = self._parts.rules
        return min(rules.poll_s, rules.gap_commit_s) if self._commits.gap_pending else rules.poll_s

    def _drain(self) -> None:
        until_s = self._parts.clock_s() + DRAIN_S
        while True:
            self._commits.commit(nothing, last=True)
            if not self._batches.waiting or self._parts.clock_s() > until_s:
                return
            self._intake.serve(self._commits.back_off_s)
