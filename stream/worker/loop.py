"""The Kafka thread of a worker: one turn after the other.

    poll -> deliver -> hand over -> take back -> publish -> read less or more -> chores

It owns consumer, producer and all ledgers; the engine runs elsewhere. No transaction is open between two turns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from stream.exactly_once.committer import Committer
from stream.log.base import LogConsumer
from stream.worker.assignment import Assignment
from stream.worker.backpressure import Backpressure
from stream.worker.completion import Completion
from stream.worker.dependencies import WorkerDependencies
from stream.worker.in_flight import InFlightCalls
from stream.worker.intake import Intake
from stream.worker.owned_partitions import OwnedPartitions
from stream.worker.periodic_tasks import PeriodicTasks
from stream.worker.scheduling import Scheduler
from stream.worker.tally import WorkerTally


@dataclass(frozen=True, slots=True)
class Steps:
    """The parts of a turn, in their order."""

    topics: Sequence[str]
    consumer: LogConsumer
    intake: Intake
    hand_over: Scheduler
    finishing: Completion
    committer: Committer
    flow: Backpressure
    chores: PeriodicTasks
    share: OwnedPartitions
    orphans: InFlightCalls
    assignment: Assignment
    tally: WorkerTally


class Loop:
    """Everything here happens on one thread; only `runner` has another."""

    def __init__(self, steps: Steps, parts: WorkerDependencies) -> None:
        self._steps = steps
        self._runner = parts.runner
        self._rules = parts.rules
        self._clock_s = parts.clock_s
        self._idle = False
        #: When the engine was last seen with something to do.
        self._busy_s = parts.clock_s()
        #: When a commit came early because the engine had rested.
        self._early_s = -math.inf
        #: The engine takes what waits as fast as we hand it over: let it, before more is read and partitions pause.
        self._engine_keeps_up = False

    def turn(self) -> None:
        """One round. Waits only if the last one found nothing to do."""
        steps = self._steps
        self._runner.check()
        read = self._read(1 if self._engine_keeps_up else steps.flow.records_max, self._wait())
        moved = self._work()
        if moved:
            self._busy_s = self._clock_s()
        committed = self._commit()
        # What is paused may have room by a commit of the hand-over's own, and nothing else would tell.
        if read or moved or committed or steps.share.paused:
            steps.flow.control()
        now_s = self._clock_s()
        steps.orphans.expire(now_s)
        steps.chores.tick(now_s)
        self._idle = not (read or moved or committed)

    def _read(self, records_max: int, wait_s: float) -> int:
        """How many records came. Their headers weigh more than what is kept of them: they are let go here."""
        polled = self._steps.consumer.poll(records_max, wait_s)
        self._steps.intake.accept(polled)
        return len(polled.records)

    def drain(self) -> None:
        """Nothing new starts: let running calls end for a while, and commit what is ready."""
        steps = self._steps
        steps.flow.stopped = True
        deadline_s = self._clock_s() + self._rules.drain_s
        while self._runner.running and self._clock_s() < deadline_s:
            self._runner.check()
            steps.flow.control()
            steps.intake.accept(steps.consumer.poll(1, 0))
            self._runner.wait(self._rules.look_s)
            self._take()
            self._commit()
            steps.chores.tick(self._clock_s())
        self._take()
        steps.committer.drain(self._clock_s() + self._rules.revoke_s)

    def _wait(self) -> float:
        """Seconds that the next poll may wait. An answer wakes nobody inside a poll, so while calls run we wait for them."""
        if not self._idle:
            return 0.0
        due_s = self._due_s()
        if self._runner.running:
            full = self._steps.hand_over.full
            self._runner.wait(min(self._rules.full_look_s if full else self._rules.look_s, due_s))
            return 0.0
        return min(self._rules.poll_s, due_s)

    def _work(self) -> bool:
        """Hand over and take back while that goes on quickly, for at most `turn_s`."""
        steps = self._steps
        end_s = self._clock_s() + self._rules.turn_s
        moved = False
        self._engine_keeps_up = False
        while True:
            started = steps.hand_over.start()
            taken = self._take()
            moved = moved or bool(started or taken)
            if not steps.share.waiting_count:
                return moved
            if self._clock_s() >= end_s:
                self._engine_keeps_up = taken > 0
                return moved
            if not started and not taken and not self._runner.wait(self._brief_s()):
                return moved

    def _brief_s(self) -> float:
        """Within a turn an engine that answers on the spot is worth waiting for."""
        return self._rules.look_s if self._runner.ahead else self._rules.brief_s

    def _take(self) -> int:
        ended = self._steps.finishing.take(self._runner.take())
        self._steps.tally.calls_ended(ended)
        return len(ended)

    def _commit(self) -> bool:
        """One transaction, if one is due."""
        steps = self._steps
        now_s = self._clock_s()
        pressed, rested = steps.flow.pressed, self._rest_s(now_s) <= 0
        early = rested and not pressed and steps.committer.wait_s(now_s) > 0
        if steps.committer.wait_s(now_s, pressed=pressed or early) > 0:
            return False
        if early:
            self._early_s = now_s
        return steps.committer.turn(now_s, all_lanes=pressed or early, meanwhile=self._meanwhile)

    def _due_s(self) -> float:
        """Seconds until the next transaction."""
        now_s = self._clock_s()
        rest_s = self._rest_s(now_s)
        due_s = self._steps.committer.wait_s(now_s, pressed=rest_s <= 0)
        return min(due_s, rest_s) if rest_s > 0 and len(self._steps.share.ready) else due_s

    def _rest_s(self, now_s: float) -> float:
        """Seconds until the engine has rested long enough: what is ready then waits for no company any more.

        A few of them once an interval at most, or a trickle would cost a transaction for every record.
        """
        if self._runner.running or self._steps.share.waiting_count:
            self._busy_s = now_s
        many = len(self._steps.share.ready) >= self._rules.rest_records_min
        again_s = -math.inf if many else self._early_s + self._steps.committer.interval_s
        return max(self._busy_s + self._rules.rest_s, again_s) - now_s

    def _meanwhile(self) -> bool | None:
        """While a transaction is under way: the engine's free slots are filled, and what ended is written."""
        share, stopped = self._steps.share, self._steps.flow.stopped
        if not share.running and (stopped or not share.waiting_count):
            return None
        started = 0 if stopped else self._steps.hand_over.refill()
        return bool(started + self._take())
