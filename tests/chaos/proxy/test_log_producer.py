"""The service's own producer behind the proxy: whatever becomes of an EndTxn, no stray can end its next transaction."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from confluent_kafka.admin import NewTopic

from stream.log.base import Fenced, LogConsumer, LogProducer, OffsetCommit, Output, Partition, Success
from stream.log.kafka.log import kafka_log
from stream.process_context import ProcessContext
from tests.chaos.play.cluster import Cluster
from tests.chaos.play.installation import create_topics
from tests.chaos.proxy.faults import Action, EndTxnFault
from tests.chaos.proxy.server import REFUSALS

pytestmark = [pytest.mark.broker, pytest.mark.chaos]

JOIN_TIMEOUT_S = 60.0


class FromTheStart:
    """A member that keeps nothing."""

    def assigned(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        return dict.fromkeys(partitions, 0)

    def revoked(self, partitions: Sequence[Partition]) -> None:
        """Nothing to do."""

    def lost(self, partitions: Sequence[Partition]) -> None:
        """Nothing to do."""


class Member:
    """One slot: a consumer that has joined, a producer that has started."""

    def __init__(self, cluster: Cluster, folder: Path, name: str) -> None:
        self.log = log = kafka_log(ProcessContext(cluster.proxied, folder, name))
        self.name, self.topic = name, f"{name}.topic"
        create_topics(cluster.direct, [NewTopic(self.topic, 1)])
        self.consumer: LogConsumer = log.consumer(name, name)
        self.producer: LogProducer = log.producer(name)
        self.producer.start(JOIN_TIMEOUT_S)
        self.consumer.subscribe([self.topic], FromTheStart())
        deadline = time.monotonic() + JOIN_TIMEOUT_S
        while not self.consumer.group().valid:
            assert time.monotonic() < deadline
            self.consumer.poll(1, 0.1)

    def publish(self, number: int) -> object:
        outputs = [Output(self.topic, None, b"%d" % number, [])]
        offsets = [OffsetCommit(self.topic, 0, number, "")]
        return self.producer.publish(outputs, offsets, self.consumer.group())


@pytest.fixture
def member(cluster: Cluster, tmp_path: Path, unique: Callable[[str], str]) -> Iterator[Member]:
    member = Member(cluster, tmp_path, unique("slot"))
    yield member
    member.consumer.close()
    member.producer.close()


def test_a_stray_end_txn_meets_a_newer_epoch(cluster: Cluster, member: Member) -> None:
    for number in (0, 10):  # the second time the client has just been replaced
        cluster.proxy.plan.inject(EndTxnFault(member.name, Action.STRAY))
        assert member.publish(number + 1) == Success()
        assert member.publish(number + 2) == Success()
        assert cluster.proxy.stray_answers[-1] in REFUSALS


@pytest.mark.parametrize("action", [Action.SEVER_RESPONSE, Action.DELAY_RESPONSE, Action.DROP_RESPONSE])
def test_an_answer_that_is_lost_or_late_costs_no_transaction(
    cluster: Cluster, member: Member, action: Action
) -> None:
    cluster.proxy.plan.inject(EndTxnFault(member.name, action, delay_s=0.7))
    assert [member.publish(number) for number in (1, 2, 3)] == [Success()] * 3


def test_of_a_member_that_cannot_deliver_and_its_twin_one_goes_on(cluster: Cluster, member: Member) -> None:
    cluster.proxy.plan.inject(EndTxnFault(member.name, Action.DELAY_RESPONSE, commit=False, delay_s=3.0))
    narrow = f"{member.name}.narrow"
    create_topics(cluster.direct, [NewTopic(narrow, 1, config={"max.message.bytes": "500000"})])
    # A batch each: the second follows a gap in the sequence.
    too_large = [Output(narrow, None, os.urandom(size), []) for size in (900_000, 400_000) * 2]
    with ThreadPoolExecutor(1) as pool:
        refused = pool.submit(member.producer.publish, too_large, [], None)
        time.sleep(0.3)
        twin = member.log.producer(member.name)
        twin.start(JOIN_TIMEOUT_S)

        def until_the_older_is_done(point: str) -> None:
            if point == "produced":
                refused.exception(JOIN_TIMEOUT_S)

        younger = twin.publish(
            [Output(member.topic, None, b"two", [])], [], None, reach=until_the_older_is_done
        )
    older = (refused.result(), member.publish(1))
    twin.close()
    cluster.proxy.plan.forget()
    fenced = any(isinstance(outcome, Fenced) for outcome in older), isinstance(younger, Fenced)
    assert sorted(fenced) == [False, True], (older, younger)
