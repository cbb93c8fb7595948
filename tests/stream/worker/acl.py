"""Rights that are taken away on a real broker."""

from __future__ import annotations

import time

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)


def forbid(
    operation: AclOperation, bootstrap_servers: str, name: str, resource: ResourceType = ResourceType.TOPIC
) -> None:
    """By an ACL, for clients without credentials, as ours are. Where a rule is, all else must be allowed by another.

    Returns when the broker knows.
    """
    client = AdminClient({"bootstrap.servers": bootstrap_servers})
    place = (resource, name, ResourcePatternType.LITERAL)
    rules = [
        AclBinding(*place, "User:ANONYMOUS", "*", AclOperation.ALL, AclPermissionType.ALLOW),
        AclBinding(*place, "User:ANONYMOUS", "*", operation, AclPermissionType.DENY),
    ]
    for made in client.create_acls(rules).values():
        made.result(60)
    all_of_it = AclBindingFilter(*place, None, None, AclOperation.ANY, AclPermissionType.ANY)
    deadline = time.monotonic() + 60
    while not set(rules) <= set(client.describe_acls(all_of_it).result(60)):
        assert time.monotonic() < deadline, f"the rules on {name} never came"
        time.sleep(0.02)


def forgive(bootstrap_servers: str, topic: str) -> None:
    """No rule on the topic any more. Returns when the broker knows."""
    client = AdminClient({"bootstrap.servers": bootstrap_servers})
    place = (ResourceType.TOPIC, topic, ResourcePatternType.LITERAL)
    all_of_it = AclBindingFilter(*place, None, None, AclOperation.ANY, AclPermissionType.ANY)
    for gone in client.delete_acls([all_of_it]).values():
        gone.result(60)
    deadline = time.monotonic() + 60
    while client.describe_acls(all_of_it).result(60):
        assert time.monotonic() < deadline, f"the rules on {topic} never went"
        time.sleep(0.02)
