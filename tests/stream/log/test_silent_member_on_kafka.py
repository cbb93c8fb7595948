"""Committed offsets where the member's own client has no answer, on a real Kafka."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from stream.broker import EmbeddedBroker
from stream.errors import ClientSilent, LogTimeout
from stream.log.base import Committed, OffsetCommit, Partition, Success, TopicDescription
from stream.log.kafka.consumer import KafkaConsumer
from stream.log.kafka.log import KafkaLog

pytestmark = pytest.mark.broker

PATIENCE_S = 60.0


class Silent:
    """A member's librdkafka client that has no answer the first times."""

    def __init__(self, client: Consumer, times: int) -> None:
        self._client = client
        self.left = times

    def committed(self, positions: list[TopicPartition], timeout_s: float) -> list[TopicPartition]:
        assert timeout_s <= 15.0
        if self.left:
            self.left -= 1
            time.sleep(timeout_s)
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        answer: list[TopicPartition] = self._client.committed(positions, timeout_s)
        return answer


class Listener:
    def assigned(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        return dict.fromkeys(partitions, 0)

    def revoked(self, partitions: Sequence[Partition]) -> None: ...
    def lost(self, partitions: Sequence[Partition]) -> None: ...


@pytest.fixture
def log(kafka: EmbeddedBroker) -> KafkaLog:
    return KafkaLog(kafka.bootstrap_servers, {})


@pytest.fixture
def places(log: KafkaLog, unique: Callable[[str], str]) -> list[Partition]:
    topic = unique("silent")
    log.admin().create([TopicDescription(topic, 2, {})], PATIENCE_S)
    return [Partition(topic, number) for number in (0, 1)]


@pytest.fixture
def member(log: KafkaLog, places: list[Partition], unique: Callable[[str], str]) -> Iterator[KafkaConsumer]:
    """It owns both, and offset 0 of the first is committed."""
    consumer = log.consumer(unique("group"), "slot-00")
    consumer.subscribe([places[0].topic], Listener())
    while len(consumer._owned) < len(places):
        consumer.poll(1, 0.1)
    with closing(log.producer(unique("producer"))) as producer:
        producer.start(PATIENCE_S)
        outcome = producer.publish([], [OffsetCommit(*places[0], 0, "the map")], consumer.group())
    assert outcome == Success()
    yield consumer
    consumer.close()


@pytest.fixture
def silent(member: KafkaConsumer, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Silent]:
    return lambda times: _silence(member, times, monkeypatch)


def _silence(member: KafkaConsumer, times: int, monkeypatch: pytest.MonkeyPatch) -> Silent:
    client = Silent(member._client, times)
    monkeypatch.setattr(member, "_client", client)
    return client


def test_a_client_that_has_no_answer_though_another_has_ends_the_process(
    member: KafkaConsumer, places: list[Partition], silent: Callable[[int], Silent]
) -> None:
    client = silent(2)
    with pytest.raises(ClientSilent, match="answers others but not this process"):
        member.committed(places, PATIENCE_S)
    client.left = 0


def test_one_that_has_found_its_answer_meanwhile_goes_on(
    member: KafkaConsumer, places: list[Partition], silent: Callable[[int], Silent]
) -> None:
    silent(1)
    assert member.committed(places, PATIENCE_S) == {places[0]: Committed(0, "the map"), places[1]: None}


def test_inside_the_revoke_of_its_close_another_clients_answer_counts(
    log: KafkaLog, places: list[Partition], unique: Callable[[str], str]
) -> None:
    asked: list[Mapping[Partition, Committed | None]] = []

    class Asking(Listener):
        def revoked(self, partitions: Sequence[Partition]) -> None:
            asked.append(consumer.committed(places, PATIENCE_S))

    consumer = log.consumer(unique("group"), "slot-00")
    consumer.subscribe([places[0].topic], Asking())
    while len(consumer._owned) < len(places):
        consumer.poll(1, 0.1)
    with closing(log.producer(unique("producer"))) as producer:
        producer.start(PATIENCE_S)
        assert producer.publish([], [OffsetCommit(*places[1], 0, "m")], consumer.group()) == Success()
    asked.clear()
    consumer.close()
    assert asked == [{places[0]: None, places[1]: Committed(0, "m")}]


def test_an_open_transaction_on_the_offsets_is_waited_for_by_both(
    log: KafkaLog, member: KafkaConsumer, places: list[Partition], unique: Callable[[str], str]
) -> None:
    name = unique("open")
    abandoned = log.producer(name)
    abandoned.start(PATIENCE_S)
    with pytest.raises(Stop):
        abandoned.publish([], [OffsetCommit(*places[0], 0, "another")], member.group(), reach=stop)
    with pytest.raises(LogTimeout):
        member.committed(places, 2.0)
    with closing(log.producer(name)) as successor:
        successor.start(PATIENCE_S)
    assert member.committed(places, PATIENCE_S)[places[0]] == Committed(0, "the map")
    abandoned.close()


class Stop(BaseException):
    """The process dies here."""


def stop(point: str) -> None:
    if point == "offsets_sent":
        raise Stop
