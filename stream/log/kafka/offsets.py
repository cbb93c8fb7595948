"""A group's committed offsets, asked by a consumer that never joins.

librdkafka 2.16.0 kills the process when its admin client asks while the coordinator loads or moves: the answer's handler
(rd_kafka_handle_OffsetFetch) wants a member's state, and an admin client has none. Describing a group kills it too
(librdkafka 4605, seen): ask an admin client nothing that goes to a coordinator.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Final

from confluent_kafka import Consumer, TopicPartition

from stream.log.base import Committed, Partition
from stream.log.kafka.calls import ask
from stream.log.kafka.events import log_event
from stream.log.kafka.failures import log_error
from stream.log.kafka.settings import Settings

_LOG = logging.getLogger(__name__)
_INVALID_OFFSET: Final = -1001


def offsets_of(
    settings: Settings, group: str, partitions: Sequence[Partition], timeout_s: float, *, stable: bool
) -> Mapping[Partition, Committed | None]:
    """None: nothing is committed. `settings`: where the brokers are, and how one may talk to them.

    `stable`: open transactions on them are waited for, else nobody's is. LogTimeout after
    `timeout_s`.
    """
    isolation = "read_committed" if stable else "read_uncommitted"
    own: Settings = {"group.id": group, "isolation.level": isolation, "enable.auto.commit": False}
    client = Consumer({**settings, **own, "error_cb": log_event}, logger=_LOG)
    try:
        return committed_by(client, f"offsets of {group}", partitions, timeout_s)
    finally:
        client.close()


def committed_by(
    client: Consumer, what: str, partitions: Sequence[Partition], timeout_s: float
) -> Mapping[Partition, Committed | None]:
    """What this client is told, by partition."""
    asked = [TopicPartition(*partition) for partition in partitions]
    answers = ask(what, timeout_s, lambda left: client.committed(asked, left))
    for position in answers:
        if position.error is not None:
            raise log_error(position.error, f"{what}: {position.topic}/{position.partition}")
    return {Partition(found.topic, found.partition): _committed(found) for found in answers}


def _committed(found: TopicPartition) -> Committed | None:
    return None if found.offset == _INVALID_OFFSET else Committed(found.offset, found.metadata or "")
