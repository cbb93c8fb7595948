"""The retention's alarm with the settings and the times that a real Kafka tells."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stream.broker import EmbeddedBroker
from stream.config.settings import InputBinding, Settings
from stream.dispatcher.limits import DispatcherLimits
from stream.dispatcher.loop import Dispatcher
from stream.log.base import Output, TopicDescription
from stream.metrics.prometheus import PrometheusMetrics
from stream.process_context import ProcessContext
from stream.topics import ensure_topics
from tests.stream.dispatcher.kafka_site import Site, turn_until
from tests.stream.dispatcher.test_retention import HOUR_MS, WIRE, warnings
from tests.stream.dispatcher.test_waiting import Registry
from tests.stream.metrics.served import values
from workers.endpoint import Endpoint

pytestmark = pytest.mark.broker


def test_a_partition_that_waits_for_the_registry_past_the_half_is_told_until_it_flows(
    kafka: EmbeddedBroker, unique: Callable[[str], str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    prefix = unique("site") + "."
    topic = f"{prefix}avro"
    settings = Settings(
        prefix=prefix,
        inputs=(InputBinding(topic, format="avro-registry"),),
        endpoints={"sim": Endpoint("sim", "simulated", partitions=1)},
    )
    site = Site(ProcessContext(kafka.bootstrap_servers, tmp_path, "dispatcher-00"), settings)
    admin, registry, metrics = site.log.admin(), Registry(), PrometheusMetrics()
    admin.create([TopicDescription(topic, 1, {"retention.ms": str(10 * HOUR_MS)})], 30)
    ensure_topics(admin, settings)
    producer = site.log.plain_producer()
    producer.send(Output(topic, None, WIRE, [], 0, int(time.time() * 1000) - 6 * HOUR_MS))
    assert producer.flush(30) == 0
    producer.close()
    # A question that took too long would be asked again in a minute, and be a warning more.
    rules = DispatcherLimits(poll_s=0.05, gap_commit_s=0.05, lag_every_s=0.5, lag_timeout_s=30)
    parts = replace(site.parts, registry=registry, metrics=metrics, rules=rules)
    made = Dispatcher(settings, 0, parts, admin)
    made.start()

    def told() -> float | None:
        return values(metrics, "headrace_retention_used_ratio").get(("0", topic))

    turn_until(made, lambda: told() is not None and len(warnings(caplog)) == 1)
    assert told() == pytest.approx(0.6, abs=0.01)
    assert "6 hours old, and the topic keeps records for 10 hours" in warnings(caplog)[0]
    registry.up = True
    turn_until(made, lambda: len(warnings(caplog)) == 2)
    assert told() is None
    made.close()
