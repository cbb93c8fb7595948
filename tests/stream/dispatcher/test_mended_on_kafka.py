"""What an operator mended beside a running dispatcher, on a real Kafka: seeking on a paused partition, above all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from stream.broker import EmbeddedBroker
from stream.cli.quarantined.fresh_map import write_fresh_map
from stream.config.settings import InputBinding, Outputs, Settings
from stream.dispatcher.dependencies import DispatcherDependencies
from stream.dispatcher.loop import Dispatcher
from stream.exactly_once.offset_map import OffsetMap, encode
from stream.log.base import Partition
from stream.process_context import ProcessContext
from stream.topics import ensure_topics
from tests.stream.dispatcher.kafka_site import GOOD, PATIENCE_S, Site, turn_until
from workers.endpoint import Endpoint

pytestmark = pytest.mark.broker


@dataclass
class Impatient(Site):
    """Its dispatcher looks often at what is set aside."""

    @property
    def parts(self) -> DispatcherDependencies:
        parts = super().parts
        return replace(parts, rules=replace(parts.rules, quarantine_every_s=0.3, lag_timeout_s=30))


@pytest.fixture
def site(kafka: EmbeddedBroker, unique: Callable[[str], str], tmp_path: Path) -> Site:
    prefix = unique("mended") + "."
    settings = Settings(
        prefix=prefix,
        inputs=(InputBinding(f"{prefix}requests"),),
        outputs=Outputs(f"{prefix}results", f"{prefix}dead-letters", (f"{prefix}results",)),
        endpoints={"sim": Endpoint("sim", "simulated", partitions=2)},
    )
    return Impatient(ProcessContext(kafka.bootstrap_servers, tmp_path, "dispatcher-00"), settings)


@pytest.fixture
def distrusting(site: Site) -> Iterator[Dispatcher]:
    """It has two good records in its only partition and has set it aside: its map is nonsense."""
    place = Partition(site.input, 0)
    ensure_topics(site.log.admin(), site.settings)
    site.send(GOOD, GOOD)
    spoil(site, TopicPartition(*place, 1, "v1:nonsense"))
    made = site.dispatcher()
    turn_until(made, lambda: place in made._owned.positions)
    assert made._owned.positions[place].set_aside is not None
    yield made
    made.close()


def test_a_partition_that_quarantine_replay_mended_is_read_again_by_the_running_dispatcher(
    site: Site, distrusting: Dispatcher
) -> None:
    """The command joins the group: its leaving or our own look, whichever is first, finds the fresh map."""
    place, group = Partition(site.input, 0), site.settings.dispatcher_group
    with ThreadPoolExecutor(1) as beside:
        replayed = beside.submit(write_fresh_map, site.log, site.settings, group, place, 0)
        turn_until(distrusting, lambda: replayed.done() and site.done(site.input))
        replayed.result()
    assert [work.source.offset for work in site.work()] == [0, 1]


def test_a_partition_mended_without_a_rebalance_is_found_by_our_own_look(
    site: Site, distrusting: Dispatcher, caplog: pytest.LogCaptureFixture
) -> None:
    mend(site, TopicPartition(site.input, 0, 0, encode(OffsetMap.empty(0))))
    turn_until(distrusting, lambda: site.done(site.input))
    assert [work.source.offset for work in site.work()] == [0, 1]
    assert f"{site.input}/0 is read again, from offset 0" in caplog.messages


def mend(site: Site, commit: TopicPartition) -> None:
    """Commit in a transaction and as no member: the coordinator lets it pass, and nobody's share moves."""
    servers, group = site.place.bootstrap_servers, site.settings.dispatcher_group
    outsider = Consumer({"bootstrap.servers": servers, "group.id": group})
    producer = Producer({"bootstrap.servers": servers, "transactional.id": f"{group}.mend"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.send_offsets_to_transaction([commit], outsider.consumer_group_metadata(), 30)
    producer.commit_transaction(30)
    outsider.close()


def spoil(site: Site, commit: TopicPartition) -> None:
    """Commit what no dispatcher of ours would, before one has ever run."""
    servers, group = site.place.bootstrap_servers, site.settings.dispatcher_group
    client = Consumer({"bootstrap.servers": servers, "group.id": group})
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            client.commit(offsets=[commit], asynchronous=False)
        except (
            KafkaException
        ):  # the first group of a broker waits for its coordinator, longer than the client does
            assert time.monotonic() < until
        else:
            break
    client.close()
