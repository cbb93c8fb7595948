"""Records that wait for a topic that is gone are named, and a slow broker is not taken for one."""

from __future__ import annotations

import pytest

from stream.log import reasons
from stream.log.base import Aborted, Output
from stream.log.kafka.producer import KafkaProducer
from tests.stream.log.scripted_client import TIMED_OUT, Script

OUTPUTS = [Output("there", None, b"a", []), Output("gone", None, b"b", [])]


@pytest.fixture
def script() -> Script:
    made = Script()
    made.undelivered, made.topics = 1, ["there", "gone"]
    return made


@pytest.fixture
def producer(script: Script) -> KafkaProducer:
    made = KafkaProducer({}, clock=script.clock, connect=script.connect)
    made.start(10)
    return made


def test_what_waits_for_a_topic_that_is_gone_is_named(producer: KafkaProducer, script: Script) -> None:
    script.topics = ["there"]
    outcome = producer.publish(OUTPUTS, [], None)
    assert outcome == Aborted(reasons.UNKNOWN_TOPIC, {1: reasons.UNKNOWN_TOPIC}, delivery=True)


def test_a_slow_broker_blames_no_topic(producer: KafkaProducer) -> None:
    assert producer.publish(OUTPUTS, [], None) == Aborted("delivery_timed_out", {})


def test_a_broker_that_does_not_answer_blames_no_topic(producer: KafkaProducer, script: Script) -> None:
    script.fail_always("list_topics", TIMED_OUT)
    assert producer.publish(OUTPUTS, [], None) == Aborted("delivery_timed_out", {})
