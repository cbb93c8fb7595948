"""Batches that the real client cannot read."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from confluent_kafka import Producer

from stream.broker import EmbeddedBroker
from stream.cli.quarantined.skip import skip
from stream.cli.quarantined.stuck import stuck_partitions
from stream.client.deadline import Deadline
from stream.dispatcher.loop import Dispatcher
from stream.log.base import Partition
from tests.stream.dispatcher.kafka_site import GOOD, Site, site, turn_until
from tests.stream.dispatcher.stage import line

__all__ = ["site"]
pytestmark = pytest.mark.broker

BOMB = b"\0" * 120_000_000


def send_in_one_batch(site: Site, *values: bytes, codec: str = "zstd", partition: int = 0) -> None:
    producer = Producer(
        {
            "bootstrap.servers": site.place.bootstrap_servers,
            "compression.type": codec,
            "message.max.bytes": 1_000_000_000,
            "batch.size": 1_000_000_000,
            "linger.ms": 500,
        }
    )
    errors: list[object] = []
    for value in values:
        producer.produce(
            site.input, value, partition=partition, on_delivery=lambda error, _: errors.append(error)
        )
    assert producer.flush(60) == 0
    assert errors == [None] * len(values)


def cause_of(made: Dispatcher, site: Site) -> str | None:
    trouble = made._owned.still.troubles.get(Partition(site.input, 0))
    return None if trouble is None else trouble.stuck.cause


def committed(site: Site, partition: int = 0) -> int:
    place = Partition(site.input, partition)
    found = site.log.admin().group_offsets(site.settings.dispatcher_group, [place], 30)[place]
    return -1 if found is None else found.offset


def test_a_value_that_unpacks_beyond_the_clients_bound_stops_its_partition_alone(site: Site) -> None:
    made = site.dispatcher()
    site.send(GOOD, GOOD)
    send_in_one_batch(site, BOMB)
    site.send(GOOD)
    send_in_one_batch(site, GOOD, codec="none", partition=1)
    turn_until(made, lambda: cause_of(made, site) == "bad_compression" and committed(site, 1) == 1)
    turn_until(made, lambda: committed(site) == 2)
    made.close()
    assert [(work.source.partition, work.source.offset) for work in site.work()] == [(0, 0), (0, 1), (1, 0)]


def test_with_room_to_unpack_it_is_a_dead_letter_without_its_value_and_the_rest_flows(site: Site) -> None:
    made = site.dispatcher()
    send_in_one_batch(site, BOMB)
    site.send(GOOD)
    turn_until(made, lambda: cause_of(made, site) == "bad_compression")
    made.close()
    roomy = Site(
        dataclasses.replace(site.place, client={"receive.message.max.bytes": "1000000000"}), site.settings
    )
    made = roomy.dispatcher()
    turn_until(made, lambda: site.done(site.input))
    made.close()
    [dead] = site.dead()
    assert (dead.source.offset, dead.failure.error_class, dead.value) == (0, "unreadable", None)
    assert dead.value_omitted == len(BOMB)
    assert [work.source.offset for work in site.work()] == [1]


def test_a_skip_beside_a_running_dispatcher_makes_dead_letters_of_what_can_be_read_and_the_rest_flows(
    site: Site,
) -> None:
    """Three hundred good lines in 14 kB of zstd, 120 MB unpacked: more than a member takes, not than a careful reader."""
    big = line(body_user="tide " * 80_000)
    made = site.dispatcher()
    site.send(GOOD)
    send_in_one_batch(site, *[big] * 300)
    site.send(GOOD)
    turn_until(made, lambda: cause_of(made, site) == "bad_compression" and committed(site) == 1)
    topics = site.log.admin().topics(30)
    with ThreadPoolExecutor(1) as beside:
        listed = beside.submit(lambda: list(stuck_partitions(site.log, site.settings, topics, Deadline(60))))
        turn_until(made, listed.done)
        [found] = listed.result()
        assert (found.first, found.last) == (1, 300)
        skipped = beside.submit(skip, site.log, site.settings, found.standing.partition, 1, 300)
        turn_until(made, lambda: skipped.done() and site.done(site.input))
        assert (skipped.result().dead_letters, skipped.result().unread) == (300, 0)
    made.close()
    assert [work.source.offset for work in site.work()] == [0, 301]
    dead = site.dead()
    assert [letter.source.offset for letter in dead] == list(range(1, 301))
    assert {letter.value for letter in dead} == {big}


@pytest.mark.parametrize(
    ("codec", "spoil", "cause"),
    [
        ("lz4", lambda batch: batch[:80] + bytes(20) + batch[100:], "bad_msg"),
        ("none", lambda batch: batch[:100] + b"\xff" + batch[101:], "bad_msg"),
    ],
)
def test_a_batch_that_its_disk_has_changed_is_told_and_goes_on_when_it_is_mended(
    site: Site, kafka: EmbeddedBroker, codec: str, spoil: Callable[[bytes], bytes], cause: str
) -> None:
    site.dispatcher().close()
    site.send(GOOD, GOOD)
    send_in_one_batch(site, *[line(custom_id=f"r-{n}") for n in range(50)], codec=codec)
    site.send(GOOD)
    segment = next((kafka._dir / "data" / f"{site.input}-0").glob("*.log"))
    sound = segment.read_bytes()
    _replace_batch(segment, spoil)
    made = site.dispatcher()
    turn_until(made, lambda: cause_of(made, site) == cause and committed(site) == 2)
    with segment.open("r+b") as file:
        file.write(sound)
    turn_until(made, lambda: site.done(site.input))
    made.close()
    assert [work.source.offset for work in site.work()] == list(range(53))


def _replace_batch(segment: Path, spoil: Callable[[bytes], bytes]) -> None:
    """The one batch with many records, in its place and of its length."""
    whole, place = segment.read_bytes(), 0
    while True:
        (length,) = struct.unpack_from(">i", whole, place + 8)
        (last,) = struct.unpack_from(">i", whole, place + 23)
        if last > 10:
            break
        place += 12 + length
    batch = whole[place : place + 12 + length]
    with segment.open("r+b") as file:
        file.seek(place)
        file.write(spoil(batch))
