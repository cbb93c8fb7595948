"""Rights on a real broker that judges them: which are missing is said, and the printed ones suffice."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from stream.broker import EmbeddedBroker
from stream.config.settings import Settings
from stream.errors import TopicMismatch
from stream.log.kafka.admin import KafkaAdmin
from stream.log.kafka.log import kafka_log
from stream.process_context import ProcessContext
from stream.topics import ensure_topics, needed_rights, planned_topics
from workers.endpoint import Endpoint

pytestmark = pytest.mark.broker

SETTINGS = Settings(endpoints={"sim": Endpoint("sim", engine="simulated", partitions=3)})
#: A resource without any rule is everyone's.
JUDGING: Final = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}
ALLOW, DENY = AclPermissionType.ALLOW, AclPermissionType.DENY
PATTERNS: Final = {"prefixed": ResourcePatternType.PREFIXED, "literal": ResourcePatternType.LITERAL}
OPERATIONS: Final = {
    "Create": AclOperation.CREATE,
    "Describe": AclOperation.DESCRIBE,
    "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS,
}
OWN_TOPICS: Final = (ResourceType.TOPIC, SETTINGS.prefix, ResourcePatternType.PREFIXED)
CLUSTER: Final = (ResourceType.BROKER, "kafka-cluster", ResourcePatternType.LITERAL)

Resource = tuple[ResourceType, str, ResourcePatternType]
Rule = tuple[AclOperation, AclPermissionType]


@pytest.fixture
def judging(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    broker = EmbeddedBroker(tmp_path / "broker", extra_properties=JUDGING)
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture
def admin(judging: EmbeddedBroker, tmp_path: Path) -> KafkaAdmin:
    return kafka_log(ProcessContext(judging.bootstrap_servers, tmp_path, "test")).admin()


def rule(broker: EmbeddedBroker, resource: Resource, *rules: Rule) -> None:
    """From now on only these hold on the resource. Returns when the broker knows."""
    client = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    bindings = [AclBinding(*resource, "User:ANONYMOUS", "*", *each) for each in rules]
    for future in client.create_acls(bindings).values():
        future.result(60)
    all_of_it = AclBindingFilter(*resource, None, None, AclOperation.ANY, AclPermissionType.ANY)
    deadline = time.monotonic() + 60
    while len(client.describe_acls(all_of_it).result(60)) < len(rules):
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("denied", [AclOperation.CREATE, AclOperation.DESCRIBE_CONFIGS])
def test_a_right_that_is_denied_is_named(
    judging: EmbeddedBroker, admin: KafkaAdmin, denied: AclOperation
) -> None:
    if denied is AclOperation.DESCRIBE_CONFIGS:
        ensure_topics(admin, SETTINGS)
    for resource in (OWN_TOPICS, CLUSTER):
        rule(judging, resource, (denied, DENY), (AclOperation.ALL, ALLOW))
    with pytest.raises(TopicMismatch, match="needs Create, Describe and DescribeConfigs on topics"):
        ensure_topics(admin, SETTINGS)


@pytest.mark.parametrize("role", ["setup", "dispatcher", "worker"])
def test_the_printed_rights_suffice_to_start(judging: EmbeddedBroker, admin: KafkaAdmin, role: str) -> None:
    if role != "setup":
        ensure_topics(admin, SETTINGS)
    # The broker itself is ANONYMOUS too and needs these; Create on the whole cluster is what must not help.
    for_itself = (AclOperation.CLUSTER_ACTION, AclOperation.ALTER, AclOperation.DESCRIBE)
    rule(judging, CLUSTER, *((operation, ALLOW) for operation in for_itself))
    for right in needed_rights(SETTINGS):
        operations = [OPERATIONS[name] for name in right.operations if name in OPERATIONS]
        if right.role == role and right.resource == "topic":
            resource = (ResourceType.TOPIC, right.name, PATTERNS[right.pattern])
            rule(judging, resource, *((operation, ALLOW) for operation in operations))
    assert set(ensure_topics(admin, SETTINGS)) == {plan.name for plan in planned_topics(SETTINGS)}
