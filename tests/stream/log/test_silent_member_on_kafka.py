"""Committed offsets where the member's own client has no answer, on a real Kafka."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing

import pytest
from confluent_kafka import KafkaError, KafkaException

from stream.broker import EmbeddedBroker
from stream.errors import LogTimeout
from stream.log.base import Committed, OffsetCommit, Partition, Success, TopicDescription
from stream.log.kafka import KafkaLog
from stream.log.kafka_consumer import KafkaConsumer

pytestmark = pytest.mark.broker

PATIENCE_S = 60.0


class Silent:
    """A librdkafka client that lost its coordinator for good."""

    def __init__(self) -> None:
        self.asked_s: list[float] = []

    def committed(self, _positions: object, timeout_s: float) -> None:
        self.asked_s.append(timeout_s)
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT))


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


def silence(member: KafkaConsumer, monkeypatch: pytest.MonkeyPatch) -> Silent:
    silent = Silent()
    monkeypatch.setattr(member, "_client", silent)
    return silent


def test_another_client_is_asked(
    member: KafkaConsumer, places: list[Partition], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        silent = silence(member, patched)
        found = member.committed(places, PATIENCE_S)
    assert found == {places[0]: Committed(0, "the map"), places[1]: None}
    assert max(silent.asked_s) <= 5.0


def test_it_too_waits_for_an_open_transaction_on_the_offsets(
    log: KafkaLog,
    member: KafkaConsumer,
    places: list[Partition],
    unique: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Stop(BaseException):
        pass

    def reach(point: str) -> None:
        if point == "offsets_sent":
            raise Stop

    name = unique("open")
    abandoned = log.producer(name)
    abandoned.start(PATIENCE_S)
    with pytest.raises(Stop):
        abandoned.publish([], [OffsetCommit(*places[0], 0, "another")], member.group(), reach=reach)
    with monkeypatch.context() as patched:
        silence(member, patched)
        with pytest.raises(LogTimeout):
            member.committed(places, 2.0)
        with closing(log.producer(name)) as successor:
            successor.start(PATIENCE_S)
        assert member.committed(places, PATIENCE_S)[places[0]] == Committed(0, "the map")
    abandoned.close()
