"""What a failed attempt leads to: another try, or the record's end. A pure function of the error and the counts."""

from __future__ import annotations

from typing import NamedTuple

from schemas.failure import ErrorClass, Failure, Stage
from workers.errors import AttemptError, InvalidOutput, RequestRejected, TransientEngineError
from workers.retry_policy import RetryPolicy


class Verdict(NamedTuple):
    """The failure that the record ends with, unless `again`."""

    failure: Failure
    again: bool


def verdict(
    error: RequestRejected | InvalidOutput | TransientEngineError,
    *,
    failures: int,
    invalid_outputs: int,
    rules: RetryPolicy,
) -> Verdict:
    """`failures` and `invalid_outputs` count this record's attempts that ended so, this one included."""
    if isinstance(error, RequestRejected):
        return Verdict(error.failure, again=False)
    if isinstance(error, InvalidOutput):
        failure = Failure(ErrorClass.INVALID_OUTPUT, Stage.ENGINE, f"{error} ({_times(invalid_outputs)})")
        return Verdict(failure, again=invalid_outputs < rules.invalid_outputs_max)
    failure = Failure(ErrorClass.ENGINE, Stage.ENGINE, f"{error} ({_times(failures)})")
    return Verdict(failure, again=failures < rules.attempts_max)


def expired(deadline_ms: int, now_ms: int) -> Failure:
    """For a record whose deadline passed before it could start."""
    text = f"the deadline passed {now_ms - deadline_ms} ms before the engine was free"
    return Failure(ErrorClass.EXPIRED, Stage.ENGINE, text)


def poison(deaths: int, reason: str) -> Failure:
    """For a record that is proven to kill its engine."""
    text = f"the engine died {deaths} times under this record, the last time with nothing beside it: {reason}"
    return Failure(ErrorClass.POISON, Stage.ENGINE, text)


def _times(count: int) -> str:
    return f"{count} attempt{'' if count == 1 else 's'} ended so"


def ended_as(error: AttemptError) -> str:
    """The outcome to count of a call that is not tried again."""
    return "rejected" if isinstance(error, RequestRejected) else "failed"
