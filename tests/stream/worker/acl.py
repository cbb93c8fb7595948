"""Rights that are taken away on a real broker."""

from __future__ import annotations

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)


def forbid(operation: AclOperation, bootstrap_servers: str, topic: str) -> None:
    """By an ACL, for clients without credentials, as ours are. Where a rule is, all else must be allowed by another."""
    client = AdminClient({"bootstrap.servers": bootstrap_servers})
    resource = (ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, "User:ANONYMOUS", "*")
    rules = [
        AclBinding(*resource, AclOperation.ALL, AclPermissionType.ALLOW),
        AclBinding(*resource, operation, AclPermissionType.DENY),
    ]
    for made in client.create_acls(rules).values():
        made.result(20)
