"""Creating the service's topics and refusing bad ones."""

from __future__ import annotations

import dataclasses
from typing import cast

import pytest

from schemas.lane import LANES, Lane
from stream.config.settings import Compression, InputBinding, Outputs, Settings
from stream.errors import LogError, LogTimeout, TopicMismatch
from stream.log.base import LogAdmin, TopicDescription
from stream.topics import ensure_topics, planned_topics
from stream.topics.check import topic_findings, wishes
from tests.stream.topics.admin import Topics
from workers.endpoint import Endpoint

SETTINGS = Settings(endpoints={"sim": Endpoint("sim", engine="simulated", workers=2)})
PLANS = {plan.name: plan for plan in planned_topics(SETTINGS)}
BATCH = SETTINGS.work_topic("sim", Lane.BATCH)


def ensure(topics: Topics, settings: Settings = SETTINGS, timeout_s: float = 5) -> dict[str, int]:
    ticks = iter(range(1000))
    return dict(
        ensure_topics(
            cast(LogAdmin, topics),
            settings,
            timeout_s=timeout_s,
            clock_s=lambda: next(ticks),
            sleep=lambda seconds: None,
        )
    )


def as_planned(name: str, partitions: int = 0, **changed: str) -> TopicDescription:
    plan = PLANS[name]
    settings = {**plan.settings, **{key.replace("_", "."): value for key, value in changed.items()}}
    return TopicDescription(name, partitions or plan.partitions, settings)


def with_partitions(partitions: int | None) -> Settings:
    return dataclasses.replace(SETTINGS, endpoints={"sim": Endpoint("sim", workers=2, partitions=partitions)})


def test_every_topic_of_the_contract_is_created_with_its_partitions() -> None:
    assert ensure(Topics()) == {
        "headrace.requests": 8,
        **{f"headrace.work.sim.{lane}": 8 for lane in LANES},
        "headrace.results": 8,
        "headrace.dead-letters": 4,
        "headrace.usage": 8,
        "headrace.replays": 1,
        "headrace.shards": 1,
        "headrace.workers": 1,
    }


def test_work_topics_forget_nothing_and_take_the_largest_input() -> None:
    topics = Topics()
    ensure(topics)
    made = topics.existing[BATCH].settings
    assert (made["retention.ms"], made["retention.bytes"], made["cleanup.policy"]) == ("-1", "-1", "delete")
    assert (
        int(made["max.message.bytes"]) > SETTINGS.limits.value_bytes_max + SETTINGS.limits.headers_bytes_max
    )


def test_dead_letters_take_17_mib() -> None:
    topics = Topics()
    ensure(topics)
    assert int(topics.existing["headrace.dead-letters"].settings["max.message.bytes"]) > 17 * 1024 * 1024


def test_what_exists_is_left_as_it_is() -> None:
    topics = Topics(as_planned("headrace.requests", partitions=3))
    assert ensure(topics)["headrace.requests"] == 3
    assert "headrace.requests" not in {topic.name for topic in topics.created}


def test_inputs_named_by_a_pattern_are_not_created() -> None:
    settings = dataclasses.replace(SETTINGS, inputs=(InputBinding("reviews.*"), InputBinding("orders")))
    found = ensure(Topics(), settings)
    assert "orders" in found
    assert not any("reviews" in name for name in found)


def test_creation_is_waited_for_until_every_broker_knows() -> None:
    assert len(ensure(Topics(blind=2))) == len(PLANS)


def test_waiting_for_a_created_topic_is_bounded() -> None:
    with pytest.raises(LogTimeout, match="cannot be seen"):
        ensure(Topics(blind=10**6))


def test_lanes_with_different_partition_counts_are_refused_with_what_to_do() -> None:
    topics = Topics(
        *(as_planned(SETTINGS.work_topic("sim", lane), 4 + (lane is Lane.BATCH)) for lane in LANES)
    )
    with pytest.raises(TopicMismatch, match=r"same number of partitions.* raise the smaller ones to 5"):
        ensure(topics)
    assert topics.created == []


def test_a_missing_lane_gets_the_count_of_its_sisters() -> None:
    found = ensure(Topics(as_planned(BATCH, 12)))
    assert {found[SETTINGS.work_topic("sim", lane)] for lane in LANES} == {12}


def test_a_configured_count_that_the_topics_do_not_have_is_refused() -> None:
    topics = Topics(as_planned(BATCH, 8))
    with pytest.raises(
        TopicMismatch, match="have 8 partitions, the configuration says 16: write partitions = 8"
    ):
        ensure(topics, with_partitions(16))


def test_more_workers_without_a_configured_count_keep_the_topics_that_exist() -> None:
    assert ensure(Topics(as_planned(BATCH, 4)), with_partitions(None))[BATCH] == 4


@pytest.mark.parametrize(
    ("topic", "changed"),
    [
        (BATCH, {"cleanup_policy": "compact"}),
        (BATCH, {"retention_ms": "604800000"}),
        (BATCH, {"max_message_bytes": "1048588"}),
        ("headrace.results", {"cleanup_policy": "compact"}),
        ("headrace.dead-letters", {"cleanup_policy": "compact,delete"}),
        ("headrace.shards", {"cleanup_policy": "delete"}),
        ("headrace.replays", {"cleanup_policy": "delete"}),
    ],
)
def test_a_topic_that_would_lose_records_is_refused_with_the_command(
    topic: str, changed: dict[str, str]
) -> None:
    setting = next(iter(changed)).replace("_", ".")
    with pytest.raises(
        TopicMismatch, match=rf"kafka-configs .*--entity-name {topic} --add-config {setting}="
    ):
        ensure(Topics(as_planned(topic, 0, **changed)))


def test_the_operators_own_retention_of_results_and_dead_letters_is_accepted() -> None:
    ensure(
        Topics(
            as_planned("headrace.results", retention_ms="1"),
            as_planned("headrace.dead-letters", retention_ms="1"),
        )
    )


def test_all_findings_come_at_once() -> None:
    topics = Topics(
        as_planned(BATCH, retention_ms="1"), as_planned("headrace.shards", cleanup_policy="delete")
    )
    with pytest.raises(TopicMismatch) as raised:
        ensure(topics)
    assert len(str(raised.value).splitlines()) == 2


@pytest.mark.parametrize(
    "topic", ["headrace.replies.acme", "headrace.work.other.batch", "__consumer_offsets"]
)
def test_an_input_that_would_read_what_the_service_writes_is_refused(topic: str) -> None:
    settings = dataclasses.replace(SETTINGS, inputs=(InputBinding("^.*"),))
    topics = Topics(TopicDescription(topic, 1, {}))
    with pytest.raises(TopicMismatch, match=f"would read {topic}.*a loop"):
        ensure(topics, settings)
    assert topics.created == []


def test_a_missing_right_says_which_rights_are_needed() -> None:
    with pytest.raises(TopicMismatch, match=r'needs Create.*"headrace\."; `headrace topics`'):
        ensure(Topics(refused="Topic authorization failed"))


def test_another_failure_stays_what_it_is() -> None:
    with pytest.raises(LogError, match="policy"):
        ensure(Topics(refused="policy violation"))


def test_work_topics_of_an_endpoint_that_is_gone_are_told(caplog: pytest.LogCaptureFixture) -> None:
    topics = Topics()
    ensure(topics)
    ensure(topics, dataclasses.replace(SETTINGS, endpoints={"other": Endpoint("other", engine="simulated")}))
    [record] = [record for record in caplog.records if "nobody reads them" in record.message]
    assert record.message.startswith("no endpoint sim is configured")


def test_an_output_topic_with_another_codec_is_said_and_not_refused() -> None:
    settings = Settings(endpoints={"sim": Endpoint("sim", engine="simulated")})
    plans = planned_topics(settings)
    found = {
        plan.name: TopicDescription(
            plan.name, plan.partitions, {**plan.settings, "compression.type": "producer"}
        )
        for plan in plans
    }
    assert topic_findings(settings, plans, found) == []
    told = wishes(plans, found)
    assert len(told) == 3
    assert all("has compression.type=producer, the configuration says gzip" in line for line in told)
    assert "--add-config compression.type=gzip" in told[0]


@pytest.mark.parametrize(("codec", "broker"), [("none", "uncompressed"), ("zstd", "zstd"), ("gzip", "gzip")])
def test_output_topics_are_made_with_the_codec_of_the_configuration(codec: Compression, broker: str) -> None:
    plans = planned_topics(Settings(outputs=Outputs(compression=codec)))
    made = {plan.purpose: plan.settings.get("compression.type") for plan in plans}
    assert {made["results"], made["dead-letters"], made["usage"]} == {broker}
    assert made["shards"] is None
