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
    """By an ACL, for clients without credentials, as ours are."""
    client = AdminClient({"bootstrap.servers": bootstrap_servers})
    resource = (ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, "User:ANONYMOUS", "*")
    rule = AclBinding(*resource, operation, AclPermissionType.DENY)
    client.create_acls([rule])[rule].result(20)
