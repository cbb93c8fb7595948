"""The loop's side of the runner: starts calls in the engine, judges how they end, puts back what a dead engine drops.

Everything here runs on the engine loop, so nothing here needs a lock. The way of a call:

    accept -> (waits: engine down, or a suspect runs alone) -> inside the engine -> ended
                 ^                                                   |
                 +------- back-off, engine restart <-----------------+
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter, deque
from collections.abc import Callable, Sequence

from schemas.failure import Failure
from workers.attempts import CallAttempts, answered_at_once, write_down
from workers.call import Call, Finished
from workers.clock import Clock
from workers.deaths import Deaths
from workers.engines.base import Answer, Engine, EngineCall
from workers.errors import ENDS_ATTEMPT, AttemptError, EngineDead, InvalidOutput, TransientEngineError
from workers.journal import StartJournal
from workers.listener import Listener
from workers.outbox import Outbox
from workers.retry_policy import RetryPolicy, backoff_s
from workers.verdict import ended_as, expired, poison, verdict


class CallLoop:
    """The calls of one engine replica."""

    def __init__(
        self,
        engine: Engine,
        rules: RetryPolicy,
        clock: Clock,
        rng: random.Random,
        journal: StartJournal,
        listener: Listener,
    ) -> None:
        self._engine = engine
        self._rules = rules
        self._clock = clock
        self._rng = rng
        self._journal = journal
        self._listener = listener
        self._deaths = Deaths(rules.poison_deaths_max)
        self.engine_is_up = False
        self._pumping = False
        self._number = 0
        # All bounded by what the Kafka thread hands over: it never exceeds the runner's room.
        self._known: dict[str, CallAttempts] = {}
        self._inside: dict[str, CallAttempts] = {}
        self._waiting: deque[CallAttempts] = deque()
        #: To be convicted of the engine's last death, once the next one has shown that it lives.
        self._accused: list[tuple[CallAttempts, str]] = []
        #: What has ended, on its way out.
        self.ends = Outbox(listener.ended)
        #: The suspect that runs with nothing beside it.
        self._alone: CallAttempts | None = None
        self.outcomes: Counter[str] = Counter()
        #: The last batch was answered on the spot, every call of it.
        self.at_once = False

    @property
    def inside(self) -> int:
        """Calls in the engine now."""
        return len(self._inside)

    @property
    def alone(self) -> bool:
        return self._alone is not None

    # Calls come and go.

    def accept(self, calls: Sequence[Call]) -> None:
        """Start these calls in order, or let them wait where the engine is down or a suspect must run alone."""
        now_ms = self._clock.now_ms()
        place = 0
        while place < len(calls) and self._free:
            some = calls[place : place + self._rules.slots_max - len(self._inside)]
            self._start_some(some, now_ms)
            place += len(some)
        self._waiting.extend(self._new_run(call, journaled=False) for call in calls[place:])
        self.pump()
        self.at_once = not self._known
        self.ends.flush()

    def cancel(self, ids: Sequence[str]) -> int:
        """Forget these calls: no `Finished` comes for them. The number of those that had not ended."""
        runs = [run for call_id in ids if (run := self._known.pop(call_id, None)) is not None]
        for run in runs:
            run.cancelled = True
            run.abandon()
            self._leave(run)
        self.outcomes["cancelled"] += len(runs)
        self.pump()
        self.ends.flush()
        return len(runs)

    def engine_up(self) -> None:
        """The engine has started and answered: who killed it ends, and what waits may run."""
        self.engine_is_up = True
        for run, reason in self._accused:
            if not run.cancelled:
                self._end_failed(run, poison(self._deaths.count(run.call.source), reason))
        self._accused.clear()
        self.pump()
        self.ends.flush()

    def engine_died(self, error: EngineDead) -> None:
        """Each call that ran gets a death and waits again, in its old order; who is proven poison is accused."""
        if not self.engine_is_up:
            return
        self.engine_is_up = False
        self._alone = None
        victims = sorted(self._inside.values(), key=lambda run: run.number)
        self._inside.clear()
        self._deaths.died(run.call.source for run in victims)
        for run in victims:
            run.abandon()
        for run in reversed(victims):
            if self._deaths.is_poison(run.call.source):
                self._accused.append((run, str(error)))
            else:
                self._waiting.appendleft(run)
        self._listener.engine_died(error)

    def pump(self) -> None:
        """Start what waits, as far as it may start now. Ends of calls inside it may call it again: they need not."""
        if self._pumping:
            return
        self._pumping = True
        while self._waiting and self._has_slot:
            suspect = self._deaths.must_run_alone(self._waiting[0].call.source)
            if suspect and self._inside and not self._waiting[0].cancelled:
                break
            run = self._waiting.popleft()
            if not run.cancelled:
                self._alone = run if suspect else None
                self._start(run)
        self._pumping = False

    # One attempt.

    @property
    def _free(self) -> bool:
        """A call may start as soon as it comes."""
        return self._has_slot and not self._waiting and not self._deaths

    @property
    def _has_slot(self) -> bool:
        return self.engine_is_up and self._alone is None and len(self._inside) < self._rules.slots_max

    def _new_run(self, call: Call, *, journaled: bool) -> CallAttempts:
        if call.id in self._known:
            raise ValueError(f"call {call.id} runs already")
        self._number += 1
        run = self._known[call.id] = CallAttempts(call, self._number, journaled=journaled)
        return run

    def _start_some(self, calls: Sequence[Call], now_ms: int) -> None:
        """As many as there are slots. Where the engine dies in the middle, the rest waits."""
        due = [call for call in calls if call.deadline_ms is None or call.deadline_ms > now_ms]
        write_down(self._journal, due, self._inside.values())
        for call in calls:
            if self._free and (call.deadline_ms is None or call.deadline_ms > now_ms):
                self._start_first(call, now_ms)
            else:
                self._waiting.append(self._new_run(call, journaled=True))

    def _start_first(self, call: Call, now_ms: int) -> None:
        """Where the answer comes at once, nothing is made but its `Finished`."""
        attempt = EngineCall(call.id, call.request, call.source, call.tenant, call.lane, 1)
        try:
            answer = self._engine.submit(attempt)
        except ENDS_ATTEMPT as error:
            self._attempt_failed(self._first_run(call, now_ms), error)
            return
        if type(answer) is Answer:
            self.outcomes["answered"] += 1
            if call.named:
                self._journal.evidence.ended(call.source)
            self.ends.add(answered_at_once(call, answer, now_ms))
        else:
            self._await(self._first_run(call, now_ms), asyncio.ensure_future(answer))  # type: ignore[arg-type]

    def _first_run(self, call: Call, now_ms: int) -> CallAttempts:
        run = self._new_run(call, journaled=True)
        run.count_attempt(now_ms)
        self._inside[call.id] = run
        return run

    def _start(self, run: CallAttempts) -> None:
        now_ms, deadline_ms = self._clock.now_ms(), run.call.deadline_ms
        if deadline_ms is not None and deadline_ms <= now_ms:
            self._end_failed(run, expired(deadline_ms, now_ms))
            return
        if not run.journaled:
            run.journaled = True
            write_down(self._journal, [run.call], self._inside.values())
        run.count_attempt(now_ms)
        self._inside[run.call.id] = run
        try:
            answer = self._engine.submit(run.engine_call())
        except ENDS_ATTEMPT as error:
            self._attempt_failed(run, error)
            return
        if type(answer) is Answer:
            self._answered(run, answer)
        else:
            self._await(run, asyncio.ensure_future(answer))  # type: ignore[arg-type]

    def _await(self, run: CallAttempts, future: asyncio.Future[Answer]) -> None:
        run.future = future
        future.add_done_callback(lambda done: self._done(run, done))

    def _done(self, run: CallAttempts, future: asyncio.Future[Answer]) -> None:
        self._guarded(self._judge_end, run, future)
        self.ends.flush_soon()

    def _guarded(self, act: Callable[..., None], *arguments: object) -> None:
        try:
            act(*arguments)
        except BaseException as error:  # asyncio would log it and go on
            self._listener.crashed(error)

    def _judge_end(self, run: CallAttempts, future: asyncio.Future[Answer]) -> None:
        error = None if future.cancelled() else future.exception()
        if run.future is not future:
            return  # abandoned before
        run.future = None
        if future.cancelled():
            self._attempt_failed(run, TransientEngineError("the engine dropped the call"))
        elif error is None:
            self._answered(run, future.result())
        elif isinstance(error, ENDS_ATTEMPT):
            self._attempt_failed(run, error)
        else:
            raise error

    def _attempt_failed(self, run: CallAttempts, error: AttemptError) -> None:
        if isinstance(error, EngineDead):
            self.engine_died(error)
            return
        self._leave(run)
        if isinstance(error, InvalidOutput):
            run.invalid_outputs += 1
            run.tokens = run.tokens.plus(error.tokens)
        else:
            run.failures += 1
        failure, again = verdict(
            error, failures=run.failures, invalid_outputs=run.invalid_outputs, rules=self._rules
        )
        if again and self._retry(run):
            self.outcomes["retried"] += 1
        else:
            self.outcomes[ended_as(error)] += 1
            self._end_failed(run, failure)
        self.pump()

    def _retry(self, run: CallAttempts) -> bool:
        """Again after a pause; False where the deadline leaves no time for it."""
        pause_s = backoff_s(self._rules, run.failures, self._rng) if run.failures else 0.0
        deadline_ms = run.call.deadline_ms
        if deadline_ms is not None and deadline_ms <= self._clock.now_ms() + pause_s * 1000:
            return False
        run.timer = asyncio.get_running_loop().call_later(pause_s, self._again, run)
        return True

    def _again(self, run: CallAttempts) -> None:
        run.timer = None
        self._waiting.append(run)
        self._guarded(self.pump)
        self.ends.flush()

    def _answered(self, run: CallAttempts, answer: Answer) -> None:
        self._leave(run)
        self.outcomes["answered"] += 1
        self._end(run, run.answered(answer, self._clock.now_ms()))
        self.pump()

    def _end_failed(self, run: CallAttempts, failure: Failure) -> None:
        self._leave(run)
        self._end(run, run.failed(failure, self._clock.now_ms()))

    def _end(self, run: CallAttempts, finished: Finished) -> None:
        del self._known[run.call.id]
        self._deaths.cleared(run.call.source)
        if run.call.named:
            self._journal.evidence.ended(run.call.source)
        self.ends.add(finished)

    def _leave(self, run: CallAttempts) -> None:
        """It is no longer inside the engine."""
        self._inside.pop(run.call.id, None)
        if self._alone is run:
            self._alone = None
