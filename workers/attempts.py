"""One call on its way through its attempts: the mutable side of a `Call`, known to the call loop alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from schemas.failure import Failure
from workers.call import Call, Finished
from workers.engines.base import Answer, EngineCall, Tokens
from workers.journal import StartJournal


def write_down(journal: StartJournal, calls: Sequence[Call], inside: Iterable[CallAttempts]) -> None:
    """Before these calls start beside those that run."""
    journal.started([call.source for call in calls], (run.call.source for run in inside))
    for call in calls:
        if call.named:
            journal.evidence.started(call.source)


def answered_at_once(call: Call, answer: Answer, now_ms: int) -> Finished:
    """The end of a first attempt that took no time."""
    first_ms = None if answer.first_token_s is None else now_ms
    of = call.request
    ended = (call.id, of.custom_id, answer, 1, answer.tokens, now_ms, first_ms, now_ms)
    return Finished(*ended, of.ignored, of.ignored_count) if of.ignored else Finished(*ended)


class CallAttempts:
    """Counts of a call's attempts. Made only where a call does not end at once."""

    __slots__ = (
        "attempts",
        "began_ms",
        "call",
        "cancelled",
        "failures",
        "future",
        "invalid_outputs",
        "journaled",
        "number",
        "started_ms",
        "timer",
        "tokens",
    )

    def __init__(self, call: Call, number: int, *, journaled: bool) -> None:
        self.call = call
        #: Order of arrival, kept over engine restarts.
        self.number = number
        self.journaled = journaled
        self.attempts = 0
        #: Of the attempts: those that failed for a passing reason, and those that broke their structure.
        self.failures = 0
        self.invalid_outputs = 0
        self.tokens = Tokens()
        #: The first attempt, and the present one.
        self.started_ms: int | None = None
        self.began_ms = 0
        self.cancelled = False
        self.future: asyncio.Future[Answer] | None = None
        self.timer: asyncio.TimerHandle | None = None

    def count_attempt(self, now_ms: int) -> None:
        self.attempts += 1
        self.began_ms = now_ms
        if self.started_ms is None:
            self.started_ms = now_ms

    def engine_call(self) -> EngineCall:
        call = self.call
        return EngineCall(call.id, call.request, call.source, call.tenant, call.lane, self.attempts)

    def answered(self, answer: Answer, now_ms: int) -> Finished:
        first_s = answer.first_token_s
        first_ms = None if first_s is None else min(now_ms, self.began_ms + round(first_s * 1000))
        tokens = self.tokens.plus(answer.tokens)
        started_ms = now_ms if self.started_ms is None else self.started_ms
        return self._finished(answer, tokens, started_ms, first_ms, now_ms)

    def failed(self, failure: Failure, now_ms: int) -> Finished:
        started_ms = now_ms if self.started_ms is None else self.started_ms
        return self._finished(failure, self.tokens, started_ms, None, now_ms)

    def _finished(
        self, outcome: Answer | Failure, tokens: Tokens, started_ms: int, first_ms: int | None, now_ms: int
    ) -> Finished:
        request = self.call.request
        return Finished(
            self.call.id,
            request.custom_id,
            outcome,
            self.attempts,
            tokens,
            started_ms,
            first_ms,
            now_ms,
            request.ignored,
            request.ignored_count,
        )

    def abandon(self) -> None:
        """Nothing that still comes from the present attempt counts; the engine is told to drop it."""
        future, self.future = self.future, None
        if future is not None:
            future.cancel()
        if self.timer is not None:
            self.timer.cancel()
