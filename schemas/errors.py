"""Errors of `schemas`.

SchemasError
+-- BadRecord             this record is wrong: it becomes a dead letter with `failure`
+-- RegistryUnavailable   the schema registry does not answer: wait and try again, nothing is lost
+-- NewerVersion          a later Headrace wrote this: refuse the partition and say so
+-- ForeignRecord         a record on one of our own topics that we did not write
+-- SchemaUnknown         the registry knows no such Avro schema; the record that needs it is bad
+-- SchemaInvalid         an Avro schema that cannot be used; in a configuration: refuse to start
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

    @classmethod
    def unreadable(cls, message: str) -> BadRecord:
        return cls(ErrorClass.UNREADABLE, Stage.DECODE, message)

    @classmethod
    def invalid(cls, message: str) -> BadRecord:
        return cls(ErrorClass.INVALID, Stage.VALIDATE, message)


class RegistryUnavailable(SchemasError):
    """The schema registry did not answer; only the partitions that need it wait."""


class NewerVersion(SchemasError):
    """The header `headrace-version` is higher than what this program reads."""


class ForeignRecord(SchemasError):
    """A record without the headers that ours always have."""


class SchemaUnknown(SchemasError):
    """The registry answered that it has no such Avro schema."""


class SchemaInvalid(SchemasError):
    """Not an Avro schema, or one that is not safe to read with (recursive, too deep)."""
