"""Why a record has no answer: its class, the stage that found it, and words for a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


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


#: The stages that may find each class. A record that says otherwise is read all the same.
STAGES_OF: Final[Mapping[ErrorClass, frozenset[Stage]]] = {
    ErrorClass.UNREADABLE: frozenset({Stage.DECODE}),
    ErrorClass.INVALID: frozenset({Stage.VALIDATE}),
    ErrorClass.UNKNOWN_ENDPOINT: frozenset({Stage.ROUTE}),
    ErrorClass.EXPIRED: frozenset({Stage.ROUTE, Stage.ENGINE}),
    ErrorClass.OVER_QUOTA: frozenset({Stage.ADMIT}),
    ErrorClass.TOO_LONG: frozenset({Stage.VALIDATE, Stage.ENGINE}),
    ErrorClass.INVALID_OUTPUT: frozenset({Stage.ENGINE}),
    ErrorClass.ENGINE: frozenset({Stage.ENGINE}),
    ErrorClass.POISON: frozenset({Stage.ENGINE}),
    ErrorClass.TOO_LARGE: frozenset({Stage.PUBLISH}),
    ErrorClass.UNWRITABLE: frozenset({Stage.ROUTE, Stage.PUBLISH}),
}


@dataclass(frozen=True, slots=True)
class Failure:
    """One record's end without an answer."""

    error_class: ErrorClass
    stage: Stage
    message: str
    retry_after_ms: int | None = None
