"""Topics and positions over confluent-kafka's admin client."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Final

from confluent_kafka import (
    IsolationLevel,
    KafkaError,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AclOperation,
    AdminClient,
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from stream.errors import LogTimeout
from stream.log.base import Committed, Partition, TopicDescription, Watermarks
from stream.log.kafka.calls import ask
from stream.log.kafka.events import log_event
from stream.log.kafka.offsets import offsets_of
from stream.log.kafka.requests import AdminRequests
from stream.log.kafka.settings import Settings

_LOG = logging.getLogger(__name__)
_LOOK_AGAIN_S: Final = 0.05


class KafkaAdmin:
    """A `LogAdmin`."""

    def __init__(self, settings: Settings) -> None:
        self._settings: Final = settings
        self._requests = AdminRequests(lambda: AdminClient({**settings, "error_cb": log_event}, logger=_LOG))

    def topics(self, timeout_s: float) -> Mapping[str, int]:
        found = ask("list topics", timeout_s, lambda left: self._requests.client.list_topics(timeout=left))
        return {name: len(topic.partitions) for name, topic in found.topics.items() if topic.error is None}

    def describe(self, names: Sequence[str], timeout_s: float) -> Mapping[str, TopicDescription | None]:
        counts = self.topics(timeout_s)
        there = [name for name in names if name in counts]
        resources = [ConfigResource(ResourceType.TOPIC, name) for name in there]
        found: dict[str, TopicDescription | None] = dict.fromkeys(names)
        if not resources:
            return found
        answers = self._requests.ask(
            timeout_s,
            lambda client, left: client.describe_configs(resources, request_timeout=left),
            lambda resource: f"settings of {resource.name}",
            fine=(KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.UNKNOWN_TOPIC_OR_PART),
        )
        refused = {resource.name for resource in resources} - {resource.name for resource in answers}
        if refused:  # one topic's missing right must not hide the others; a deleted one is no longer listed
            counts = self.topics(timeout_s)
            found |= {
                name: TopicDescription(name, counts[name], {}, True) for name in refused & counts.keys()
            }
        for resource, entries in answers.items():
            settings = {key: entry.value for key, entry in entries.items() if entry.value is not None}
            found[resource.name] = TopicDescription(resource.name, counts[resource.name], settings)
        return found

    def create(self, topics: Sequence[TopicDescription], timeout_s: float) -> None:
        """Replicated as the broker's default says. Returns when every partition has its leader."""
        if not topics:
            return
        wanted = [NewTopic(topic.name, topic.partitions, -1, config=dict(topic.settings)) for topic in topics]
        deadline = time.monotonic() + timeout_s
        self._requests.ask(
            timeout_s,
            lambda client, left: client.create_topics(wanted, operation_timeout=left, request_timeout=left),
            lambda name: f"create {name}",
            fine=(KafkaError.TOPIC_ALREADY_EXISTS,),
        )
        self._await_leaders({topic.name for topic in topics}, deadline)

    def delete(self, names: Sequence[str], timeout_s: float) -> None:
        """Missing ones are no error."""
        if not names:
            return
        self._requests.ask(
            timeout_s,
            lambda client, left: client.delete_topics(list(names), operation_timeout=left),
            lambda name: f"delete {name}",
            fine=(KafkaError.UNKNOWN_TOPIC_OR_PART,),
        )

    def delete_records(self, below: Mapping[Partition, int], timeout_s: float) -> None:
        if not below:
            return
        positions = [TopicPartition(*partition, offset) for partition, offset in below.items()]
        self._requests.ask(
            timeout_s,
            lambda client, left: client.delete_records(positions, request_timeout=left),
            lambda place: f"delete records of {place.topic}/{place.partition}",
        )

    def may_on_topics(self, names: Sequence[str], timeout_s: float) -> Mapping[str, frozenset[str] | None]:
        answers = self._requests.ask(
            timeout_s,
            lambda client, left: client.describe_topics(
                TopicCollection(list(names)), include_authorized_operations=True, request_timeout=left
            ),
            lambda name: f"rights on topic {name}",
            fine=(KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.UNKNOWN_TOPIC_OR_PART),
        )
        return dict.fromkeys(names) | {
            name: _operations(answer.authorized_operations) for name, answer in answers.items()
        }

    def group_offsets(
        self, group: str, partitions: Sequence[Partition], timeout_s: float
    ) -> Mapping[Partition, Committed | None]:
        """Plain offsets, not stable ones: nobody's open transaction is waited for."""
        if not partitions:
            return {}
        return offsets_of(self._settings, group, partitions, timeout_s, stable=False)

    def watermarks(self, partitions: Sequence[Partition], timeout_s: float) -> Mapping[Partition, Watermarks]:
        low = self._offsets(partitions, OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED, timeout_s)
        high = self._offsets(partitions, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED, timeout_s)
        return {partition: Watermarks(low[partition], high[partition]) for partition in partitions}

    def stable_ends(self, partitions: Sequence[Partition], timeout_s: float) -> Mapping[Partition, int]:
        return self._offsets(partitions, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED, timeout_s)

    def _offsets(
        self, partitions: Sequence[Partition], spec: OffsetSpec, isolation: IsolationLevel, timeout_s: float
    ) -> dict[Partition, int]:
        """Asked again while a leader is being chosen: a topic that was just made, a broker that came back."""
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                return self._offsets_now(partitions, spec, isolation, timeout_s)
            except LogTimeout:
                if time.monotonic() >= deadline:
                    raise
            time.sleep(_LOOK_AGAIN_S)
            # The client goes on asking the leader it knows.
            self.topics(timeout_s)

    def _offsets_now(
        self, partitions: Sequence[Partition], spec: OffsetSpec, isolation: IsolationLevel, timeout_s: float
    ) -> dict[Partition, int]:
        if not partitions:
            return {}
        asked = {TopicPartition(*partition): spec for partition in partitions}
        found = self._requests.ask(
            timeout_s,
            lambda client, left: client.list_offsets(asked, isolation_level=isolation, request_timeout=left),
            lambda place: f"offsets of {place.topic}/{place.partition}",
        )
        return {Partition(place.topic, place.partition): at.offset for place, at in found.items()}

    def _await_leaders(self, names: set[str], deadline: float) -> None:
        """Creation answers before every broker knows: what follows would meet an unknown topic."""
        while True:
            left = max(0.1, deadline - time.monotonic())
            found = ask(
                "list topics", left, lambda left: self._requests.client.list_topics(timeout=left)
            ).topics
            ready = {
                name
                for name, topic in found.items()
                if topic.error is None and all(part.leader >= 0 for part in topic.partitions.values())
            }
            if names <= ready:
                return
            if time.monotonic() >= deadline:
                raise LogTimeout(f"topics without a leader: {sorted(names - ready)}")
            time.sleep(_LOOK_AGAIN_S)


def _operations(told: Sequence[AclOperation] | None) -> frozenset[str] | None:
    """As ACLs are written: DescribeConfigs. Nothing at all is no answer: whoever is answered may at least describe."""
    if not told:
        return None
    return frozenset("".join(word.capitalize() for word in each.name.split("_")) for each in told)
