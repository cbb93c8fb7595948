"""What an operator may do to topics under a running installation."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from tests.chaos.inputs.send import Sender
from tests.chaos.play.stage import Stage

ADMIN_TIMEOUT_S: Final = 60.0
#: Clients without credentials, as all of this suite are.
EVERYONE: Final = "User:ANONYMOUS"


def delete_half(stage: Stage, topic: str) -> None:
    """DeleteRecords up to the middle of what each partition holds."""
    ends = stage.positions.ends(stage.positions.partitions([topic]))
    below = [TopicPartition(*place, end.high // 2 + 1) for place, end in ends.items()]
    admin = _admin(stage)
    for done in admin.delete_records(below).values():
        done.result(ADMIN_TIMEOUT_S)


def delete(stage: Stage, topic: str) -> None:
    """Returns when it is gone."""
    admin = _admin(stage)
    admin.delete_topics([topic])[topic].result(ADMIN_TIMEOUT_S)
    deadline = time.monotonic() + ADMIN_TIMEOUT_S
    while stage.positions.partitions([topic]):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{topic} is still there {ADMIN_TIMEOUT_S} s after its deletion")
        time.sleep(0.1)


def make_anew(stage: Stage, topic: str, partitions: int) -> None:
    """Another topic of the same name: its offsets begin at 0 again. The senders are new too."""
    delete(stage, topic)
    admin, deadline = _admin(stage), time.monotonic() + ADMIN_TIMEOUT_S
    while True:
        try:
            admin.create_topics([NewTopic(topic, partitions)])[topic].result(ADMIN_TIMEOUT_S)
            break
        except KafkaException:  # its deletion is still under way
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
    stage.sender = Sender(stage.cluster.direct, topic, f"{stage.installation.prefix}sender-anew")


@contextmanager
def forbidden(stage: Stage, topic: str) -> Iterator[None]:
    """Nobody may write to `topic` meanwhile: the broker knows when the block begins, and when it has ended."""
    admin = _admin(stage)
    named = (ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, EVERYONE, "*")
    acl = AclBinding(*named, AclOperation.WRITE, AclPermissionType.DENY)
    every = AclBindingFilter(*named, AclOperation.WRITE, AclPermissionType.DENY)
    admin.create_acls([acl])[acl].result(ADMIN_TIMEOUT_S)
    _until_known(admin, every, there=True)
    try:
        yield
    finally:
        admin.delete_acls([every])[every].result(ADMIN_TIMEOUT_S)
        _until_known(admin, every, there=False)


def _until_known(admin: AdminClient, rule: AclBindingFilter, *, there: bool) -> None:
    """The controller answers first, the broker that judges by it learns it a moment later."""
    deadline = time.monotonic() + ADMIN_TIMEOUT_S
    while bool(admin.describe_acls(rule).result(ADMIN_TIMEOUT_S)) != there:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the broker does not know {rule} {ADMIN_TIMEOUT_S} s after it was told")
        time.sleep(0.05)


def _admin(stage: Stage) -> AdminClient:
    """To be held until its answers are there: they die with it."""
    return AdminClient({"bootstrap.servers": stage.cluster.direct})
