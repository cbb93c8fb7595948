"""Errors of `schemas`.

SchemasError
+-- BadRecord             this record is wrong: it becomes a dead letter with `failure`
+-- RegistryUnavailable   the schema registry does not answer: wait and try again, nothing is lost
"""

from __future__ import annotations

from schemas.failure import ErrorClass, Failure, Stage


class SchemasError(Exception):
    """Root of the package's errors."""


class BadRecord(SchemasError):
    """A record that cannot be read or is not valid. Carries its `failure`."""

    def __init__(self, error_class: ErrorClass, stage: Stage, message: str) -> None:
        super().__init__(message)
        self.failure = Failure(error_class, stage, message)


class RegistryUnavailable(SchemasError):
    """The schema registry did not answer; only the partitions that need it wait."""
