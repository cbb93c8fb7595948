"""Retention that overtakes a running dispatcher, and records of very many headers, on a real Kafka."""

from __future__ import annotations

import logging

import pytest
from confluent_kafka import Producer

from schemas.failure import ErrorClass
from schemas.weight import HEADERS_MAX
from stream.log.base import Partition
from tests.stream.dispatcher.kafka_site import GOOD, Site, site, turn_until

__all__ = ["site"]
pytestmark = pytest.mark.broker


def test_what_retention_takes_from_a_running_dispatcher_is_counted(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    made = site.dispatcher()
    site.send(GOOD)
    turn_until(made, lambda: site.done(site.input))
    place = Partition(site.input, 0)
    made._owned.consumer.pause([place])  # or the client would have fetched them before they are deleted
    site.send(*[GOOD] * 20)
    site.log.admin().delete_records({place: 11}, 30)
    site.send(GOOD)
    made._owned.consumer.resume([place])
    turn_until(made, lambda: site.done(site.input))
    made.close()
    assert [work.source.offset for work in site.work()] == [0, *range(11, 22)]
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert [words for words in told if "offsets 1 to 10 were deleted before they were read" in words], told


@pytest.mark.parametrize("count", [HEADERS_MAX + 200, 65_000])
def test_a_record_of_very_many_headers_costs_one_dead_letter(site: Site, count: int) -> None:
    made = site.dispatcher()
    producer = Producer({"bootstrap.servers": site.place.bootstrap_servers, "compression.type": "zstd"})
    headers = [("headrace-tenant", b"acme"), *[("a", None)] * (count - 1)]
    producer.produce(site.input, GOOD, key=b"k", partition=0, headers=headers)
    assert producer.flush(30) == 0
    site.send(GOOD)
    turn_until(made, lambda: site.done(site.input))
    made.close()
    assert [work.source.offset for work in site.work()] == [1]
    [letter] = site.dead()
    assert letter.failure.error_class is ErrorClass.UNREADABLE
    assert f"{count} headers" in letter.failure.message
    assert (letter.tenant, letter.key, letter.value) == ("acme", b"k", GOOD)
