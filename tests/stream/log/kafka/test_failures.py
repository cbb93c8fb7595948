"""Errors are read in the order that exactly-once demands."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from stream.errors import LogError, LogFenced, LogTimeout, RightMissing
from stream.log import reasons
from stream.log.kafka.failures import Verdict, cause, consumer_failure, delivery_reason, log_error, verdict


def _error(
    code: int, text: str = "text", *, fatal: bool = False, retriable: bool = False, abort: bool = False
) -> KafkaError:
    return KafkaError(code, text, fatal, retriable, abort)


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (_error(KafkaError._FENCED, fatal=True), Verdict.FENCED),
        (_error(KafkaError._FENCED, abort=True), Verdict.FENCED),
        (_error(KafkaError.PRODUCER_FENCED, retriable=True), Verdict.FENCED),
        (_error(KafkaError.ILLEGAL_GENERATION, abort=True), Verdict.ABORT),
        (_error(KafkaError.UNKNOWN_MEMBER_ID, abort=True), Verdict.ABORT),
        (_error(KafkaError.FENCED_INSTANCE_ID, abort=True), Verdict.ABORT),
        (_error(KafkaError._TIMED_OUT, abort=True, retriable=True), Verdict.ABORT),
        (_error(KafkaError._TIMED_OUT, retriable=True), Verdict.RETRY),
        (_error(KafkaError.NOT_COORDINATOR, retriable=True), Verdict.RETRY),
        (_error(KafkaError._TIMED_OUT, retriable=True, fatal=True), Verdict.UNKNOWN),
        (_error(KafkaError.INVALID_PRODUCER_EPOCH, fatal=True), Verdict.UNKNOWN),
        (_error(KafkaError.INVALID_TXN_STATE, fatal=True), Verdict.UNKNOWN),
        (_error(KafkaError._STATE), Verdict.UNKNOWN),
    ],
)
def test_each_error_has_its_action(error: KafkaError, what: Verdict) -> None:
    assert verdict(error) is what


def test_a_cause_is_short_enough_for_a_label() -> None:
    assert cause(_error(KafkaError.ILLEGAL_GENERATION)) == "illegal_generation"
    assert cause(_error(KafkaError._TIMED_OUT)) == "timed_out"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (KafkaError.MSG_SIZE_TOO_LARGE, reasons.TOO_LARGE),
        (KafkaError.UNKNOWN_TOPIC_OR_PART, reasons.UNKNOWN_TOPIC),
        (KafkaError._UNKNOWN_PARTITION, reasons.UNKNOWN_PARTITION),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, reasons.UNAUTHORISED),
        (KafkaError.INVALID_RECORD, reasons.REFUSED),
    ],
)
def test_a_bad_target_is_permanent(code: int, reason: str) -> None:
    assert delivery_reason(_error(code)) == reason
    assert reason in reasons.PERMANENT


@pytest.mark.parametrize(
    "code", [KafkaError._MSG_TIMED_OUT, KafkaError._TRANSPORT, KafkaError.NOT_ENOUGH_REPLICAS]
)
def test_a_bad_moment_is_not_permanent(code: int) -> None:
    assert delivery_reason(_error(code)) not in reasons.PERMANENT


def test_a_consumer_dies_of_what_it_cannot_mend() -> None:
    twin = KafkaError(KafkaError.FENCED_INSTANCE_ID).str()
    assert isinstance(consumer_failure(_error(KafkaError._FATAL, f"Fatal error: {twin}")), LogFenced)
    assert isinstance(consumer_failure(_error(KafkaError.FENCED_INSTANCE_ID)), LogFenced)
    assert type(consumer_failure(_error(KafkaError._FATAL))) is LogError
    assert type(consumer_failure(_error(KafkaError.TOPIC_AUTHORIZATION_FAILED))) is LogError
    for code in (KafkaError._TRANSPORT, KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._MAX_POLL_EXCEEDED):
        assert consumer_failure(_error(code)) is None


@pytest.mark.parametrize(
    ("code", "on"),
    [
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, "topic orders"),
        (KafkaError.GROUP_AUTHORIZATION_FAILED, "group readers"),
    ],
)
def test_a_right_that_a_consumer_lacks_is_named(code: int, on: str) -> None:
    failure = consumer_failure(_error(code), "orders", "readers")
    assert isinstance(failure, RightMissing)
    assert f"no right to Read and Describe on {on}: " in str(failure)


def test_a_question_may_be_asked_again_where_that_helps() -> None:
    assert isinstance(log_error(_error(KafkaError._TIMED_OUT), "offsets"), LogTimeout)
    assert isinstance(
        log_error(_error(KafkaError.COORDINATOR_LOAD_IN_PROGRESS, retriable=True), "offsets"), LogTimeout
    )
    for code in (
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.FENCED_LEADER_EPOCH,
        KafkaError.NOT_COORDINATOR,
    ):
        assert isinstance(log_error(_error(code), "offsets"), LogTimeout)
    assert isinstance(log_error(_error(KafkaError.FENCED_INSTANCE_ID), "offsets"), LogFenced)
    assert type(log_error(_error(KafkaError.GROUP_AUTHORIZATION_FAILED), "offsets")) is LogError
