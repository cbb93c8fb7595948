"""The service's topics on a real broker."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from schemas.lane import LANES, Lane
from stream.broker import EmbeddedBroker
from stream.config.settings import InputBinding, Outputs, Settings
from stream.errors import TopicMismatch
from stream.log.base import TopicDescription
from stream.log.kafka.admin import KafkaAdmin
from stream.log.kafka.log import kafka_log
from stream.process_context import ProcessContext
from stream.topics import ensure_topics, planned_topics
from workers.endpoint import Endpoint

pytestmark = pytest.mark.broker


@pytest.fixture
def settings(unique: Callable[[str], str]) -> Settings:
    prefix = f"{unique('topics')}."
    return Settings(
        prefix=prefix,
        inputs=(InputBinding(f"{prefix}requests"),),
        outputs=Outputs(f"{prefix}results", f"{prefix}dead-letters", (f"{prefix}results",)),
        endpoints={"sim": Endpoint("sim", engine="simulated", partitions=3)},
    )


@pytest.fixture
def admin(kafka: EmbeddedBroker, tmp_path: Path) -> KafkaAdmin:
    return kafka_log(ProcessContext(kafka.bootstrap_servers, tmp_path, "test")).admin()


def test_topics_are_created_as_planned_and_accepted_the_next_time(
    admin: KafkaAdmin, settings: Settings
) -> None:
    first = ensure_topics(admin, settings)
    assert ensure_topics(admin, settings) == first
    plans = {plan.name: plan for plan in planned_topics(settings)}
    assert first == {name: plan.partitions for name, plan in plans.items()}
    for name, found in admin.describe(list(plans), 20).items():
        assert found is not None
        assert {key: found.settings[key] for key in plans[name].settings} == dict(plans[name].settings)


def test_a_lane_of_another_size_is_refused(admin: KafkaAdmin, settings: Settings) -> None:
    admin.create([TopicDescription(settings.work_topic("sim", Lane.BATCH), 2, {})], 20)
    with pytest.raises(TopicMismatch, match="write partitions = 2"):
        ensure_topics(admin, settings)


def test_a_work_topic_that_would_forget_is_refused(admin: KafkaAdmin, settings: Settings) -> None:
    for lane in LANES:
        admin.create([TopicDescription(settings.work_topic("sim", lane), 3, {"retention.ms": "1000"})], 20)
    with pytest.raises(TopicMismatch, match=r"retention\.ms=1000, the service needs -1"):
        ensure_topics(admin, settings)


def test_an_input_pattern_over_our_own_topics_is_refused_before_they_exist(
    admin: KafkaAdmin, settings: Settings
) -> None:
    looping = dataclasses.replace(settings, inputs=(InputBinding(f"{settings.prefix}*"),))
    with pytest.raises(TopicMismatch, match="a loop"):
        ensure_topics(admin, looping)
    assert not any(name.startswith(settings.prefix) for name in admin.topics(20))
