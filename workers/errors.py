"""Errors of `workers`.

WorkersError
+-- EngineStartError      the engine could not be started: configuration or machine; the process ends
|   +-- EngineRefused     no other try can help: a wrong option, too little memory
|   |   +-- ModelError    the model is not there or cannot be read; the message says what would be right
|   +-- EngineBroken      it starts, and dies of a call of our own: no record is to blame
+-- RequestRejected       the engine says that the request is wrong: dead letter with `failure`, no retry
+-- InvalidOutput         the answer breaks its schema or was cut inside it: one more try, then dead letter
+-- TransientEngineError  this call failed, another try may succeed: bounded retries, then dead letter
|   +-- EngineFull        the engine's own valve is shut; our limit failed: try again, alarm
+-- EngineDead            the engine is gone or hangs; each call that ran is a suspect (poison)
"""

from __future__ import annotations

from schemas.failure import ErrorClass, Failure, Stage
from workers.engines.base import Tokens


class WorkersError(Exception):
    """Root of the package's errors."""


class EngineStartError(WorkersError):
    """The engine did not start."""


class EngineRefused(EngineStartError):
    """The engine did not start, and would not the next time either."""


class ModelError(EngineRefused):
    """The model of an endpoint cannot be found or prepared."""


class EngineBroken(EngineStartError):
    """The engine starts, and does not survive a call of our own."""


class RequestRejected(WorkersError):
    """The request can never be answered. Carries its `failure`."""

    def __init__(self, error_class: ErrorClass, stage: Stage, message: str) -> None:
        super().__init__(message)
        self.failure = Failure(error_class, stage, message)


class InvalidOutput(WorkersError):
    """The answer does not meet the structure that was asked for. Carries the `tokens` that it cost."""

    def __init__(self, message: str, tokens: Tokens = Tokens()) -> None:  # noqa: B008 - immutable
        super().__init__(message)
        self.tokens = tokens


class TransientEngineError(WorkersError):
    """One call failed; the engine lives."""


class EngineFull(TransientEngineError):
    """The engine refused for want of room."""


class EngineDead(WorkersError):
    """The engine process has died, or hangs."""


#: These end one attempt. Every other exception is a programmer's error and ends the runner.
ENDS_ATTEMPT = (RequestRejected, InvalidOutput, TransientEngineError, EngineDead)
AttemptError = RequestRejected | InvalidOutput | TransientEngineError | EngineDead
