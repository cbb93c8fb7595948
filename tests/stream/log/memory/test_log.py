"""What only the log in memory can do: faults on demand."""

from __future__ import annotations

import itertools

import pytest

from stream.errors import LogTimeout
from stream.log import reasons
from stream.log.base import Aborted, Committed, Partition, Success, Unknown
from stream.log.memory.log import Fault, MemoryLog
from tests.contract.log_stage import Stage, commit, out, settle

PLACE = Partition("in", 0)


@pytest.fixture
def log() -> MemoryLog:
    return MemoryLog(session_timeout_s=0.2)


@pytest.fixture
def stage(log: MemoryLog) -> Stage:
    count = itertools.count()
    return Stage(log, lambda name: f"{name}-{next(count)}", log, lambda _consumer: None)


def test_a_lost_response_leaves_a_commit_that_the_map_proves(log: MemoryLog, stage: Stage) -> None:
    topic, member = stage.topic(), stage.member("g", [stage.topic()], "g.00")
    settle([member], 1)
    producer = stage.producer("g.00")
    log.inject("g.00", Fault.COMMITTED_UNKNOWN)
    stamp = member.consumer.group()
    assert isinstance(producer.publish([out(topic)], [commit(PLACE, 3, "map")], stamp), Unknown)
    producer.start(1)
    assert member.consumer.committed([PLACE], 1) == {PLACE: Committed(3, "map")}
    assert len(stage.read(topic)) == 1


def test_a_commit_that_never_arrived_stays_open_until_the_next_start(log: MemoryLog, stage: Stage) -> None:
    topic, member = stage.topic(), stage.member("g", [stage.topic()], "g.00")
    settle([member], 1)
    producer = stage.producer("g.00")
    log.inject("g.00", Fault.OPEN_UNKNOWN)
    stamp = member.consumer.group()
    assert isinstance(producer.publish([out(topic)], [commit(PLACE, 3, "map")], stamp), Unknown)
    with pytest.raises(LogTimeout):
        member.consumer.committed([PLACE], 0.05)
    producer.start(1)
    assert member.consumer.committed([PLACE], 1) == {PLACE: None}
    assert stage.read(topic) == []


def test_a_fault_hits_once(log: MemoryLog, stage: Stage) -> None:
    topic, producer = stage.topic(), stage.producer("g.00")
    log.inject("g.00", Fault.ABORTED)
    assert producer.publish([out(topic)], [], None) == Aborted("injected", {})
    assert producer.publish([out(topic)], [], None) == Success()


def test_a_transaction_that_the_broker_ended_is_unknown_to_its_client(log: MemoryLog, stage: Stage) -> None:
    topic, producer = stage.topic(), stage.producer("g.00")

    def expire(point: str) -> None:
        if point == "offsets_sent":
            log.end_transaction("g.00")

    assert isinstance(producer.publish([out(topic)], [], None, reach=expire), Unknown)
    producer.start(1)
    assert producer.publish([out(topic, b"after")], [], None) == Success()
    assert [record.value() for record in stage.read(topic)] == [b"after"]


def test_a_topic_that_may_not_be_written_is_named(log: MemoryLog, stage: Stage) -> None:
    topic, producer = stage.topic(), stage.producer("g.00")
    log.deny(topic)
    refused = producer.publish([out(topic)], [], None, attribute=True)
    assert refused == Aborted(reasons.UNAUTHORISED, {0: reasons.UNAUTHORISED}, delivery=True)
    log.allow(topic)
    assert producer.publish([out(topic)], [], None) == Success()
