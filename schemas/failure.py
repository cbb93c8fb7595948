"""Why a record has no answer: its class, the stage that found it, and words for a person."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ErrorClass(StrEnum):
    """What went wrong, as scripts outside may test it (header `headrace-error-class`)."""

    UNREADABLE = "unreadable"
    INVALID = "invalid"
    UNKNOWN_ENDPOINT = "unknown_endpoint"
    EXPIRED = "expired"
    OVER_QUOTA = "over_quota"
    TOO_LONG = "too_long"
    INVALID_OUTPUT = "invalid_output"
    ENGINE = "engine"
    POISON = "poison"
    TOO_LARGE = "too_large"
    UNWRITABLE = "unwritable"


class Stage(StrEnum):
    """Where in the life of a record it was found (header `headrace-stage`)."""

    DECODE = "decode"
    VALIDATE = "validate"
    ROUTE = "route"
    ADMIT = "admit"
    ENGINE = "engine"
    PUBLISH = "publish"


@dataclass(frozen=True, slots=True)
class Failure:
    """One record's end without an answer."""

    error_class: ErrorClass
    stage: Stage
    message: str
    retry_after_ms: int | None = None
