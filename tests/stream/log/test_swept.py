"""A client that is fenced right after it was made anew: by the coordinator's sweep, it may be, and for once."""

from __future__ import annotations

import pytest

from stream.log.base import Aborted, Fenced, GroupStamp, OffsetCommit, Outcome, Output, Success, Unknown
from stream.log.kafka.producer import BELIEVED_EVERY_S, SWEEP_S, KafkaProducer
from tests.stream.log.scripted_client import ABORTABLE, FENCED, Script

STAMP = GroupStamp(1, "member", b"native")


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def renewed(script: Script) -> KafkaProducer:
    """Made anew at this moment."""
    made = KafkaProducer({}, clock=script.clock, connect=script.connect)
    made.start(10)
    made.start(10)
    return made


def publish(producer: KafkaProducer) -> Outcome:
    return producer.publish([Output("t", b"k", b"v", [])], [OffsetCommit("t", 0, 7, "map")], STAMP)


@pytest.mark.parametrize("call", ["begin", "send_offsets", "commit"])
def test_what_became_of_its_transaction_is_asked_for(
    renewed: KafkaProducer, script: Script, call: str
) -> None:
    script.fail(call, FENCED)
    assert publish(renewed) == Unknown("fenced")
    assert publish(renewed) == Success()


def test_a_fence_that_is_seen_late_counts_by_the_begin_of_its_transaction(
    renewed: KafkaProducer, script: Script
) -> None:
    script.takes["send_offsets"] = 5 * SWEEP_S
    script.fail("send_offsets", FENCED)
    assert publish(renewed) == Unknown("fenced")


def test_its_process_is_not_said_to_have_a_twin(renewed: KafkaProducer, script: Script) -> None:
    script.fail("send_offsets", FENCED)
    assert not renewed.is_fenced(STAMP)


def test_an_abort_that_is_fenced_leaves_its_transaction_aborted(
    renewed: KafkaProducer, script: Script
) -> None:
    script.fail("send_offsets", ABORTABLE)
    script.fail("abort", FENCED)
    assert publish(renewed) == Aborted("illegal_generation", {})


def test_the_second_time_within_a_minute_it_is_a_twin(renewed: KafkaProducer, script: Script) -> None:
    script.fail("begin", FENCED)
    assert publish(renewed) == Unknown("fenced")
    renewed.start(10)
    script.fail("begin", FENCED)
    assert publish(renewed) == Fenced("fenced")
    script.now += BELIEVED_EVERY_S
    renewed.start(10)
    script.fail("begin", FENCED)
    assert publish(renewed) == Unknown("fenced")


def test_an_older_client_and_the_first_of_a_process_have_a_twin(
    renewed: KafkaProducer, script: Script
) -> None:
    script.now += 2 * SWEEP_S
    script.fail("begin", FENCED)
    assert publish(renewed) == Fenced("fenced")
    first = KafkaProducer({}, clock=script.clock, connect=script.connect)
    first.start(10)
    script.fail("begin", FENCED)
    assert publish(first) == Fenced("fenced")
