"""What a Kafka error means for a transaction: pure; the first that fits counts."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Protocol

from confluent_kafka import KafkaError

from stream.errors import LogError, LogFenced, LogTimeout, MemberFenced, RightMissing
from stream.log import reasons
from stream.log.how_to_allow import how_to_allow


class ErrorFlags(Protocol):
    """The part of KafkaError that decides."""

    def code(self) -> int: ...
    def name(self) -> str: ...
    def str(self) -> str: ...
    def fatal(self) -> bool: ...
    def retriable(self) -> bool: ...
    def txn_requires_abort(self) -> bool: ...


class Verdict(StrEnum):
    """What to do after a failed transactional call."""

    #: Another process owns the id: the flags do not count.
    FENCED = "fenced"
    ABORT = "abort"
    #: The same call again, with identical arguments.
    RETRY = "retry"
    #: Fatal, or nothing known: destroy the producer and reconcile.
    UNKNOWN = "unknown"


_FENCING: Final = {KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.TRANSACTION_COORDINATOR_FENCED}

#: Another process holds our instance id.
_TWIN: Final = (KafkaError.FENCED_INSTANCE_ID, KafkaError.UNRELEASED_INSTANCE_ID)

_DELIVERY_REASONS: Final = {
    KafkaError.MSG_SIZE_TOO_LARGE: reasons.TOO_LARGE,
    KafkaError.RECORD_LIST_TOO_LARGE: reasons.TOO_LARGE,
    KafkaError.INVALID_MSG_SIZE: reasons.TOO_LARGE,
    KafkaError.UNKNOWN_TOPIC_OR_PART: reasons.UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_TOPIC: reasons.UNKNOWN_TOPIC,
    KafkaError.UNKNOWN_TOPIC_ID: reasons.UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION: reasons.UNKNOWN_PARTITION,
    KafkaError.TOPIC_AUTHORIZATION_FAILED: reasons.UNAUTHORISED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: reasons.UNAUTHORISED,
    KafkaError.INVALID_RECORD: reasons.REFUSED,
    KafkaError.INVALID_TIMESTAMP: reasons.REFUSED,
    KafkaError.TOPIC_EXCEPTION: reasons.REFUSED,
    KafkaError.POLICY_VIOLATION: reasons.REFUSED,
    KafkaError.UNSUPPORTED_FOR_MESSAGE_FORMAT: reasons.REFUSED,
}

#: Errors of a consumer that only a person can mend.
_DENIED: Final = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError._AUTHENTICATION,
}


def verdict(error: ErrorFlags) -> Verdict:
    """The action for an error of a transactional call."""
    if error.code() in _FENCING:
        return Verdict.FENCED
    if error.txn_requires_abort():
        return Verdict.ABORT
    if error.retriable() and not error.fatal():
        return Verdict.RETRY
    return Verdict.UNKNOWN


def cause(error: ErrorFlags) -> str:
    """A short label for the metric: `illegal_generation`, `timed_out`."""
    return error.name().lstrip("_").lower()


def delivery_reason(error: ErrorFlags) -> str:
    """Why one record was not delivered; a label of `reasons` where trying again cannot help."""
    return _DELIVERY_REASONS.get(error.code()) or cause(error)


def _tells_fencing(error: ErrorFlags) -> bool:
    """A fatal event carries the code that made it fatal in its text alone."""
    if error.code() in _TWIN:
        return True
    return error.code() == KafkaError._FATAL and any(KafkaError(code).str() in error.str() for code in _TWIN)


def consumer_failure(
    error: ErrorFlags, topic: str | None = None, group: str | None = None
) -> LogError | None:
    """What an error event of a group's consumer, about this topic, means for its process; None: librdkafka recovers by itself."""
    if _tells_fencing(error):
        return MemberFenced(f"another process is this member of the group: {error.str()}")
    if error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED and group:
        return RightMissing(how_to_allow("group", group, ("Read", "Describe")))
    if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED and topic:
        return RightMissing(how_to_allow("topic", topic, ("Read", "Describe")))
    if error.code() in _DENIED:
        return LogError(f"not allowed, see `headrace topics` for the rights a role needs: {error.str()}")
    if error.fatal() or error.code() in (KafkaError._FATAL, KafkaError._AUTO_OFFSET_RESET):
        return LogError(f"the consumer cannot go on: {error.str()}")
    return None


def log_error(error: ErrorFlags, what: str) -> LogError:
    """The error of a call that asks for something (offsets, topics): LogTimeout where asking again may help."""
    message = f"{what}: {error.str()} ({error.name()})"
    if _tells_fencing(error):
        return MemberFenced(message)
    if error.code() in _FENCING:
        return LogFenced(message)
    waits = (
        KafkaError._TIMED_OUT,
        KafkaError._TIMED_OUT_QUEUE,
        KafkaError._TRANSPORT,
        KafkaError._WAIT_COORD,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.LEADER_NOT_AVAILABLE,
        # A broker came back, and the client still knows its leaders of before.
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        # "No leaders found": a broker that was too slow to report has been set aside by its controller for a moment.
        KafkaError._NOENT,
        # The admin client does not mark these as retriable.
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
    )
    if error.retriable() or error.code() in waits:
        return LogTimeout(message)
    return LogError(message)
