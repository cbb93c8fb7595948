"""What plain Kafka clients see of the service: send with positions, read committed, ends of partitions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from confluent_kafka import Consumer, IsolationLevel, Message, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    OffsetSpec,
)

from tests.acceptance.case import Case

LARGEST_BYTES = 20 * 1024 * 1024
CALL_S = 60.0


def position_of(message: Message) -> str:
    return f"{message.topic()}/{message.partition()}/{message.offset()}"


def send(bootstrap_servers: str, cases: Iterable[Case]) -> dict[str, Case]:
    """Produce in this order, each topic's partitions in turn; position -> case."""
    producer = Producer({"bootstrap.servers": bootstrap_servers, "message.max.bytes": LARGEST_BYTES})
    positions: dict[str, Case] = {}

    def delivered(case: Case) -> Callable[[object, Message], None]:
        def note(error: object, message: Message) -> None:
            assert error is None, (case.name, error)
            positions[position_of(message)] = case

        return note

    for number, case in enumerate(cases):
        producer.produce(
            case.topic,
            case.value,
            case.key,
            partition=number % 4,
            headers=list(case.headers),
            on_delivery=delivered(case),
        )
    assert producer.flush(CALL_S) == 0
    return positions


@contextmanager
def reading(bootstrap_servers: str, topics: Sequence[str]) -> Iterator[Consumer]:
    """A read_committed consumer of all partitions, from the beginning, without a group."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": "nobody",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "fetch.message.max.bytes": LARGEST_BYTES,
        }
    )
    known = consumer.list_topics(timeout=CALL_S).topics
    consumer.assign(
        [TopicPartition(topic, number, 0) for topic in topics for number in known[topic].partitions]
    )
    try:
        yield consumer
    finally:
        consumer.close()


def read(consumer: Consumer, enough: Callable[[list[Message]], bool], timeout_s: float) -> list[Message]:
    """Messages until they are `enough`, or the time is over."""
    found: list[Message] = []
    deadline = time.monotonic() + timeout_s
    while not enough(found) and time.monotonic() < deadline:
        for message in consumer.consume(100, 0.1):
            assert message.error() is None, message.error()
            found.append(message)
    return found


def create_topic(admin: AdminClient, name: str, **config: str) -> None:
    settings = {key.replace("_", "."): value for key, value in config.items()}
    admin.create_topics([NewTopic(name, 1, config=settings)])[name].result(CALL_S)


def make_compacted(admin: AdminClient, topic: str) -> None:
    change = ConfigEntry("cleanup.policy", "compact", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource("topic", topic, incremental_configs=[change])
    admin.incremental_alter_configs([resource])[resource].result(CALL_S)


def delete_topic(admin: AdminClient, topic: str) -> None:
    admin.delete_topics([topic])[topic].result(CALL_S)


def open_ends(admin: AdminClient) -> dict[str, tuple[int, int]]:
    """Partitions whose last stable offset is not their high watermark."""
    topics = admin.list_topics(timeout=CALL_S).topics
    parts = [TopicPartition(topic, number) for topic in topics for number in topics[topic].partitions]
    stable, high = (_ends(admin, parts, level) for level in IsolationLevel)
    return {part: (stable[part], high[part]) for part in high if stable[part] != high[part]}


def _ends(admin: AdminClient, parts: list[TopicPartition], level: IsolationLevel) -> dict[str, int]:
    asked = admin.list_offsets({part: OffsetSpec.latest() for part in parts}, isolation_level=level)
    return {f"{part.topic}/{part.partition}": future.result(CALL_S).offset for part, future in asked.items()}
