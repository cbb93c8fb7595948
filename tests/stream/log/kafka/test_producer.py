"""Every error class of a transaction has its outcome, its retries end, and a doubtful client is replaced."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from stream.background_call import CallStuck
from stream.errors import LogError, LogFenced, LogTimeout, RightMissing
from stream.log import reasons
from stream.log.base import Aborted, Fenced, GroupStamp, OffsetCommit, Outcome, Output, Success, Unknown
from stream.log.kafka.producer import KafkaProducer
from stream.log.kafka.settings import TRANSACTION_TIMEOUT_S
from stream.log.kafka.transaction import RETRY_S_MAX
from tests.stream.log.scripted_client import ABORTABLE, FATAL, FENCED, NO_FLAG, TIMED_OUT, Script, kafka_error

STAMP = GroupStamp(1, "member", b"native")
OUTPUT = Output("t", b"k", b"v", [])
OFFSET = OffsetCommit("t", 0, 7, "map")


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def producer(script: Script) -> KafkaProducer:
    made = KafkaProducer({}, clock=script.clock, connect=script.connect)
    made.start(10)
    script.calls.clear()
    script.arguments.clear()
    return made


def _publish(producer: KafkaProducer) -> object:
    return producer.publish([OUTPUT], [OFFSET], STAMP)


def test_a_transaction_goes_begin_produce_offsets_commit(producer: KafkaProducer, script: Script) -> None:
    assert _publish(producer) == Success()
    assert script.calls == ["begin", "produce", "send_offsets", "commit"]
    assert _publish(producer) == Success()
    assert script.clients == 1


def test_an_invalid_stamp_begins_nothing(producer: KafkaProducer, script: Script) -> None:
    for stamp in (GroupStamp(-1, "member", b""), GroupStamp(3, "", b"")):
        assert producer.publish([OUTPUT], [OFFSET], stamp) == Aborted(reasons.STALE_MEMBER, {})
    assert script.calls == []


@pytest.mark.parametrize("call", ["send_offsets", "commit"])
def test_a_retriable_call_is_repeated_with_the_same_arguments_and_the_client_replaced_after(
    producer: KafkaProducer, script: Script, call: str
) -> None:
    script.fail(call, TIMED_OUT, TIMED_OUT)
    assert _publish(producer) == Success()
    repeated = [
        arguments for name, arguments in zip(script.calls, script.arguments, strict=True) if name == call
    ]
    assert len(repeated) == 3
    assert repeated[0] == repeated[1] == repeated[2]
    assert script.clients == 1

    script.calls.clear()
    assert _publish(producer) == Success()
    assert script.clients == 2
    assert script.calls[:2] == ["init", "begin"]


@pytest.mark.parametrize("call", ["send_offsets", "commit"])
def test_a_call_that_was_slow_may_have_been_sent_twice(
    producer: KafkaProducer, script: Script, call: str
) -> None:
    script.takes[call] = 0.6
    assert _publish(producer) == Success()
    assert _publish(producer) == Success()
    assert script.clients == 2


def test_retries_end_and_the_outcome_is_unknown(producer: KafkaProducer, script: Script) -> None:
    script.fail_always("commit", TIMED_OUT)
    began = script.now
    assert _publish(producer) == Unknown("timed_out")
    assert RETRY_S_MAX <= script.now - began < RETRY_S_MAX + 1
    assert "abort" not in script.calls


@pytest.mark.parametrize("call", ["begin", "send_offsets", "commit"])
@pytest.mark.parametrize("error", [FATAL, NO_FLAG])
def test_a_fatal_error_or_one_without_a_flag_is_unknown(
    producer: KafkaProducer, script: Script, call: str, error: Exception
) -> None:
    script.fail(call, error)
    assert isinstance(_publish(producer), Unknown)
    assert "abort" not in script.calls
    assert _publish(producer) == Success()
    assert script.clients == 2


@pytest.mark.parametrize("call", ["begin", "send_offsets", "commit"])
def test_fenced_is_fenced_whatever_its_flags(producer: KafkaProducer, script: Script, call: str) -> None:
    script.fail(call, kafka_error(KafkaError._FENCED, abort=True))
    assert _publish(producer) == Fenced("fenced")


def test_fenced_after_a_time_out_of_our_own_is_unknown(producer: KafkaProducer, script: Script) -> None:
    script.fail("commit", TIMED_OUT, FENCED)
    assert _publish(producer) == Unknown("fenced")


def test_an_older_generation_aborts_and_the_next_transaction_goes_on(
    producer: KafkaProducer, script: Script
) -> None:
    script.fail("send_offsets", ABORTABLE)
    assert _publish(producer) == Aborted("illegal_generation", {})
    assert script.calls[-1] == "abort"
    assert _publish(producer) == Success()
    assert script.clients == 1


def test_an_abort_is_repeated_while_retriable(producer: KafkaProducer, script: Script) -> None:
    script.fail("send_offsets", ABORTABLE)
    script.fail("abort", TIMED_OUT, TIMED_OUT)
    assert _publish(producer) == Aborted("illegal_generation", {})
    assert script.calls.count("abort") == 3
    assert _publish(producer) == Success()
    assert script.clients == 2


def test_an_abort_that_fails_before_any_commit_was_asked_for_is_still_aborted(
    producer: KafkaProducer, script: Script
) -> None:
    script.fail("send_offsets", ABORTABLE)
    script.fail("abort", kafka_error(KafkaError.INVALID_TXN_STATE, fatal=True))
    assert _publish(producer) == Aborted("illegal_generation", {})
    assert _publish(producer) == Success()
    assert script.clients == 2


def test_an_abort_that_fails_after_the_commit_was_asked_for_is_unknown(
    producer: KafkaProducer, script: Script
) -> None:
    script.fail("commit", ABORTABLE)
    script.fail("abort", FATAL)
    assert isinstance(_publish(producer), Unknown)


def test_a_produce_that_raises_aborts(producer: KafkaProducer, script: Script) -> None:
    script.fail("produce", kafka_error(KafkaError.MSG_SIZE_TOO_LARGE))
    assert producer.publish([OUTPUT, OUTPUT], [], None) == Aborted(reasons.TOO_LARGE, {}, delivery=True)
    assert script.calls == ["begin", "produce", "init"]


@pytest.mark.parametrize("attribute", [False, True])
def test_a_transaction_given_up_while_it_is_handed_over_is_aborted_for_its_failed_record(
    producer: KafkaProducer, script: Script, attribute: bool
) -> None:
    script.fail("produce", NO_FLAG)
    script.reports = [KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError._PURGE_QUEUE]
    outcome = producer.publish([OUTPUT, OUTPUT], [], None, attribute=attribute)
    assert outcome == Aborted(reasons.UNAUTHORISED, {}, delivery=True)
    assert script.calls[:3] == ["begin", "produce", "init"]


def test_without_a_report_the_refused_commit_says_why_it_was_given_up(
    producer: KafkaProducer, script: Script
) -> None:
    script.fail("produce", NO_FLAG)
    script.fail("commit", kafka_error(KafkaError.TOPIC_AUTHORIZATION_FAILED, abort=True))
    assert producer.publish([OUTPUT], [], None) == Aborted(reasons.UNAUTHORISED, {}, delivery=True)


def test_offsets_refused_for_a_record_whose_report_was_not_heard_yet(
    producer: KafkaProducer, script: Script
) -> None:
    script.fail("send_offsets", kafka_error(KafkaError.MSG_SIZE_TOO_LARGE, abort=True))
    script.reports = [KafkaError.MSG_SIZE_TOO_LARGE]
    assert _publish(producer) == Aborted(reasons.TOO_LARGE, {}, delivery=True)
    assert script.calls == ["begin", "produce", "send_offsets", "init"]


@pytest.mark.parametrize("call", ["produce", "flush"])
def test_fenced_while_records_are_handed_over_is_fenced_and_takes_nothing_back(
    producer: KafkaProducer, script: Script, call: str
) -> None:
    script.fail("produce", FENCED if call == "flush" else kafka_error(KafkaError._FATAL))
    script.fail("commit", FENCED)
    assert _publish(producer) == Fenced("fenced")
    assert "init" not in script.calls


@pytest.mark.parametrize(
    ("init", "outcome"),
    [(FENCED, Fenced("fenced")), (NO_FLAG, Aborted(reasons.TOO_LARGE, {}, delivery=True))],
)
def test_a_failed_delivery_whose_next_client_does_not_start(
    producer: KafkaProducer, script: Script, init: Exception, outcome: Outcome
) -> None:
    script.fail("produce", kafka_error(KafkaError.MSG_SIZE_TOO_LARGE))
    script.fail("init", init)
    assert producer.publish([OUTPUT], [], None) == outcome
    assert producer.publish([OUTPUT], [], None) == Success()
    assert script.calls[:4] == ["begin", "produce", "init", "init"]


def test_a_delivery_that_times_out_is_ended_by_the_next_client(
    producer: KafkaProducer, script: Script
) -> None:
    script.undelivered = 1
    missing = Aborted(reasons.UNKNOWN_TOPIC, {0: reasons.UNKNOWN_TOPIC}, delivery=True)
    assert producer.publish([OUTPUT], [], None) == missing
    assert script.calls == ["begin", "produce", "list_topics", "init"]


def test_a_full_queue_is_served_and_tried_again(producer: KafkaProducer, script: Script) -> None:
    script.fail("produce", BufferError(), BufferError())
    assert _publish(producer) == Success()
    assert script.calls.count("produce") == 3


def test_a_queue_that_stays_full_aborts(producer: KafkaProducer, script: Script) -> None:
    script.fail_always("produce", BufferError())
    assert _publish(producer) == Aborted("queue_full", {})


def test_a_crash_between_two_steps_replaces_the_client(producer: KafkaProducer, script: Script) -> None:
    script.fail("produce", TypeError("header"))
    with pytest.raises(TypeError):
        _publish(producer)
    assert _publish(producer) == Success()
    assert script.clients == 2


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (TIMED_OUT, LogTimeout),
        (FENCED, LogFenced),
        (kafka_error(KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED), RightMissing),
    ],
)
def test_a_start_says_whether_trying_again_helps(
    script: Script, error: Exception, raised: type[LogError]
) -> None:
    script.fail_always("init", error)
    with pytest.raises(raised):
        KafkaProducer({"transactional.id": "t"}, clock=script.clock, connect=script.connect).start(5)
    assert script.now < 6


def test_a_client_that_cannot_be_replaced_publishes_nothing(producer: KafkaProducer, script: Script) -> None:
    script.fail("commit", FATAL)
    _publish(producer)
    script.fail_always("init", TIMED_OUT)
    script.calls.clear()
    assert _publish(producer) == Aborted("timed_out", {})
    assert "begin" not in script.calls


def test_a_fence_after_a_stall_longer_than_the_transaction_may_be_the_broker_s_own(
    producer: KafkaProducer, script: Script
) -> None:
    script.takes["send_offsets"] = TRANSACTION_TIMEOUT_S + 1.0
    script.fail("commit", FENCED)
    assert isinstance(_publish(producer), Unknown)


def test_a_connection_lost_under_a_commit_replaces_the_client_before_the_next_begin(
    producer: KafkaProducer, script: Script
) -> None:
    script.lines.append(("FAIL", "p", "TxnCoordinator: b:9092: Disconnected (after 28ms in state UP)"))
    assert _publish(producer) == Success()
    assert script.clients == 2
    assert _publish(producer) == Success()
    assert script.clients == 2


def test_a_call_that_never_comes_back_is_given_up_with_its_client(
    producer: KafkaProducer, script: Script
) -> None:
    script.fail("send_offsets", CallStuck())
    assert isinstance(_publish(producer), Unknown)
    producer.start(10)
    assert _publish(producer) == Success()
    assert script.clients == 2
