"""A compacted input on a real Kafka: what compaction took is a gap, before and after the committed offset."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from schemas.source import Source
from stream.broker import EmbeddedBroker
from stream.config.settings import InputBinding, Settings
from stream.dispatcher.dependencies import DispatcherDependencies
from stream.dispatcher.role import run_dispatcher
from stream.log.base import Output, Partition, TopicDescription
from stream.log.kafka.log import kafka_log
from stream.process_context import ProcessContext
from tests.stream.worker.house import request_line
from tests.stream.worker.installation import Installation

pytestmark = pytest.mark.broker

INPUT = "orders"
KEYS = 10
ROUNDS = 3
SEGMENT_S = 1.0
PATIENCE_S = 60.0
#: The cleaner looks again at once, and takes whatever is not in the newest segment.
EAGER_BROKER = {"log.cleaner.backoff.ms": "100"}
EAGER_TOPIC = {
    "segment.ms": str(int(SEGMENT_S * 1000)),
    "min.cleanable.dirty.ratio": "0.01",
    "min.compaction.lag.ms": "0",
}


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    broker = EmbeddedBroker(tmp_path / "broker", extra_properties=EAGER_BROKER)
    broker.start()
    place = ProcessContext(broker.bootstrap_servers, tmp_path, "worker-sim-00")
    log = kafka_log(place)
    log.admin().create([TopicDescription(INPUT, 1, EAGER_TOPIC)], 30)
    made = Installation(log, place, "headrace.")
    yield made
    made.stop()
    broker.stop()


def send(installation: Installation, *keys: bytes) -> None:
    producer = installation.log.plain_producer()
    for key in keys:
        producer.send(Output(INPUT, key, request_line(key.decode()), [], 0))
    assert producer.flush(30) == 0
    producer.close()


def rounds() -> list[bytes]:
    return [b"k-%d" % (number % KEYS) for number in range(KEYS * ROUNDS)]


def visible(installation: Installation) -> list[int]:
    return [record.offset() for record in installation.read(INPUT)]


def compact(installation: Installation) -> None:
    """From now on: it must not take what has not been answered yet, however slowly that went."""
    policy = ConfigEntry("cleanup.policy", "compact", incremental_operation=AlterConfigOpType.SET)
    topic = ConfigResource(ResourceType.TOPIC, INPUT, incremental_configs=[policy])
    admin = AdminClient({"bootstrap.servers": installation.place.bootstrap_servers})
    for done in admin.incremental_alter_configs([topic]).values():
        done.result(30)


def await_compacted(installation: Installation, survivors: list[int]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while (left := visible(installation)) != survivors:
        assert time.monotonic() < deadline, left
        time.sleep(0.2)


@contextmanager
def running(installation: Installation) -> Iterator[Settings]:
    """A dispatcher and a worker, stopped cleanly."""
    settings = dataclasses.replace(installation.settings, inputs=(InputBinding(INPUT),))
    stop = threading.Event()
    parts = DispatcherDependencies(
        installation.log, time.monotonic, lambda: time.time_ns() // 1_000_000, stopped=stop.is_set
    )
    dispatcher = threading.Thread(
        target=run_dispatcher, args=(settings, 0, installation.place), kwargs={"parts": parts}
    )
    dispatcher.start()
    try:
        installation.start()
        yield settings
    finally:
        stop.set()
        dispatcher.join(60)
    assert not dispatcher.is_alive()
    installation.end_cleanly()


def committed(installation: Installation, settings: Settings) -> int:
    place = Partition(INPUT, 0)
    found = installation.log.admin().group_offsets(settings.dispatcher_group, [place], 30)[place]
    return found.offset if found is not None else 0


def test_what_compaction_took_is_passed_over_and_what_it_left_is_answered_once(
    installation: Installation,
) -> None:
    first = KEYS * ROUNDS
    send(installation, *rounds())
    answered = [Source(INPUT, 0, offset) for offset in range(first)]
    with running(installation) as settings:
        installation.await_outputs(answered)
    assert committed(installation, settings) == first
    compact(installation)
    send(installation, *rounds())
    time.sleep(2 * SEGMENT_S)
    send(installation, b"the newest segment")
    survivors = [*range(2 * first - KEYS, 2 * first), 2 * first]
    await_compacted(installation, survivors)
    answered += [Source(INPUT, 0, offset) for offset in survivors]
    with running(installation):
        installation.await_outputs(answered)
        deadline = time.monotonic() + PATIENCE_S
        while committed(installation, settings) != 2 * first + 1:
            assert time.monotonic() < deadline
            time.sleep(0.1)
