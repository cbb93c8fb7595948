"""The contract of the log where a record cannot be delivered: what fails, whom it takes with it, what goes on."""

from __future__ import annotations

import os

import pytest

from stream.log import reasons
from stream.log.base import Aborted, Output, Success
from stream.log.plain import Delivery
from tests.contract.log_stage import PATIENCE_S, Stage, out

MIB = 1024 * 1024


def _refused(stage: Stage, bad: Output, reason: str) -> None:
    """`bad` between two good ones: nobody is published, the place is known on request, the neighbours go later."""
    good = stage.topic()
    producer = stage.producer()
    outputs = [out(good, b"one"), bad, out(good, b"two")]
    first = producer.publish(outputs, [], None)
    assert first == Aborted(reason, {}, delivery=True)
    assert producer.publish(outputs, [], None, attribute=True) == Aborted(reason, {1: reason}, delivery=True)
    assert producer.publish([outputs[0], outputs[2]], [], None) == Success()
    assert [record.value() for record in stage.read(good)] == [b"one", b"two"]


def test_a_record_above_its_topics_limit_is_too_large(stage: Stage) -> None:
    small = stage.topic(max_message_bytes="2000")
    _refused(stage, out(small, os.urandom(5_000)), reasons.TOO_LARGE)
    assert stage.read(small) == []


def test_a_record_above_the_clients_own_limit_is_too_large(stage: Stage) -> None:
    huge = stage.topic(max_message_bytes=str(64 * MIB))
    _refused(stage, out(huge, bytes(21 * MIB)), reasons.TOO_LARGE)


def test_a_record_as_large_as_a_dead_letter_may_be_passes(stage: Stage) -> None:
    roomy = stage.topic(max_message_bytes=str(18 * MIB))
    value = os.urandom(17 * MIB)
    assert stage.producer().publish([out(roomy, value)], [], None) == Success()
    assert [record.value() for record in stage.read(roomy)] == [value]


def test_a_topic_that_does_not_exist_is_named(stage: Stage) -> None:
    _refused(stage, out(stage.unique("missing")), reasons.UNKNOWN_TOPIC)


def test_a_partition_that_does_not_exist_is_named(stage: Stage) -> None:
    _refused(stage, out(stage.topic(), partition=7), reasons.UNKNOWN_PARTITION)


def test_a_null_key_is_refused_by_a_compacted_topic(stage: Stage) -> None:
    compacted = stage.topic(cleanup_policy="compact")
    _refused(stage, out(compacted, key=None), reasons.REFUSED)
    assert stage.producer().publish([out(compacted, b"kept")], [], None) == Success()


def test_a_topic_deleted_while_it_is_used_fails_and_the_next_transaction_goes_on(stage: Stage) -> None:
    gone, there = stage.topic(), stage.topic()
    producer = stage.producer()
    assert producer.publish([out(gone), out(there, b"one")], [], None) == Success()
    stage.admin.delete([gone], PATIENCE_S)
    outcome = producer.publish([out(gone), out(there, b"never")], [], None, attribute=True)
    assert isinstance(outcome, Aborted)
    assert outcome.delivery
    assert outcome.failed[0] in reasons.UNWRITABLE
    assert producer.publish([out(there, b"two")], [], None) == Success()
    assert [record.value() for record in stage.read(there)] == [b"one", b"two"]


def test_a_large_record_takes_its_batch_along_and_fails_alone_too(stage: Stage) -> None:
    small = stage.topic(max_message_bytes="4000")
    producer = stage.producer()
    outputs = [out(small, b"a"), out(small, os.urandom(9_000)), out(small, b"b")]
    together = producer.publish(outputs, [], None, attribute=True)
    assert isinstance(together, Aborted)
    assert together.failed[1] == reasons.TOO_LARGE
    alone = producer.publish([outputs[1]], [], None, attribute=True)
    assert alone == Aborted(reasons.TOO_LARGE, {0: reasons.TOO_LARGE}, delivery=True)
    assert producer.publish([outputs[0], outputs[2]], [], None) == Success()
    assert [record.value() for record in stage.read(small)] == [b"a", b"b"]


@pytest.mark.parametrize("attribute", [False, True])
@pytest.mark.parametrize("place", [0, 3_000])
def test_one_among_thousands_is_known_though_it_fails_while_the_others_are_handed_over(
    stage: Stage, place: int, attribute: bool
) -> None:
    good, small = stage.topic(4), stage.topic(max_message_bytes="2000")
    outputs = [out(good, b"%d" % number) for number in range(12_000)]
    outputs[place] = out(small, os.urandom(5_000))
    outcome = stage.producer().publish(outputs, [], None, attribute=attribute)
    failed = {place: reasons.TOO_LARGE} if attribute else {}
    assert outcome == Aborted(reasons.TOO_LARGE, failed, delivery=True)


def test_a_bug_in_an_output_crashes_and_the_next_transaction_is_clean(stage: Stage) -> None:
    topic = stage.topic()
    producer = stage.producer()

    def bug(point: str) -> None:
        if point == "produced":
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        producer.publish([out(topic, b"never")], [], None, reach=bug)
    assert producer.publish([out(topic, b"one")], [], None) == Success()
    assert [record.value() for record in stage.read(topic)] == [b"one"]


def test_a_plain_record_that_cannot_be_delivered_says_why(stage: Stage) -> None:
    small = stage.topic(max_message_bytes="2000")
    deliveries: list[Delivery] = []
    plain = stage.log.plain_producer()
    plain.send(out(small, b"fits"), deliveries.append)
    assert plain.flush(PATIENCE_S) == 0
    plain.send(out(small, os.urandom(5_000)), deliveries.append)
    assert plain.flush(PATIENCE_S) == 0
    plain.close()
    assert [(d.topic, d.partition, d.offset, d.error) for d in deliveries] == [
        (small, 0, 0, None),
        (small, 0, -1, reasons.TOO_LARGE),
    ]
