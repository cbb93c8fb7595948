"""The librdkafka settings of each client, as pure functions.

Order of precedence: ours, then the operator's (security, tuning), then what exactly-once cannot do without.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stream.log.base import Assignor
from stream.log.limits import MESSAGE_BYTES_MAX

#: Open at most this long on the broker. We produce only finished work, so seconds would do.
TRANSACTION_TIMEOUT_S: Final = 15
#: A static member's partitions move only after this.
SESSION_TIMEOUT_MS: Final = 8_000
#: An eager rebalance ends within about one of these.
HEARTBEAT_INTERVAL_MS: Final = 500
POLL_INTERVAL_MS_MAX: Final = 300_000
#: A missing topic is believed to be missing after this (librdkafka's own 30 s would outlast the transaction).
TOPIC_PROPAGATION_MS: Final = 3_000
RECONNECT_BACKOFF_MS_MAX: Final = 1_000
#: What one zstd batch may unpack to for a careful reader; the default for all others is 100 MB.
CAREFUL_BYTES_MAX: Final = 1_000_000_000

Setting = str | int | bool
Settings = dict[str, Setting]


def _shared(bootstrap_servers: str, client: Mapping[str, str]) -> Settings:
    return {
        "bootstrap.servers": bootstrap_servers,
        "client.id": "headrace",
        "reconnect.backoff.max.ms": RECONNECT_BACKOFF_MS_MAX,
        "log.connection.close": False,
        **client,
    }


def _fetching() -> Settings:
    return {
        "enable.partition.eof": True,
        # Small, for a pause throws the prefetched away: of a compressed topic the default of 1 MiB a partition is some
        # 20,000 records, unpacked again for every 500 that a worker has room for (seen: ten times the work). One batch
        # comes whole in any case. The back-off's default of 1 s would stall a small queue.
        "fetch.message.max.bytes": 128 * 1024,
        "queued.min.messages": 2_000,
        "queued.max.messages.kbytes": 32 * 1024,
        "fetch.queue.backoff.ms": 5,
        # A record ends the wait at once; a partition that is resumed or assigned may have to wait it out.
        "fetch.wait.max.ms": 250,
        "fetch.error.backoff.ms": 100,
        # What a disk has changed must not be answered, nor passed over in silence: it is reported (stuck.py).
        "check.crcs": True,
    }


def consumer_settings(
    bootstrap_servers: str,
    client: Mapping[str, str],
    *,
    group: str,
    instance_id: str | None,
    assignor: Assignor,
    regex_refresh_ms: int,
) -> Settings:
    """A group member that never commits by itself and reads committed records only."""
    member: Settings = {} if instance_id is None else {"group.instance.id": instance_id}
    return {
        **_fetching(),
        "session.timeout.ms": SESSION_TIMEOUT_MS,
        "heartbeat.interval.ms": HEARTBEAT_INTERVAL_MS,
        "max.poll.interval.ms": POLL_INTERVAL_MS_MAX,
        "group.protocol": "classic",
        "topic.metadata.refresh.interval.ms": regex_refresh_ms,
        **_shared(bootstrap_servers, client),
        "group.id": group,
        **member,
        "partition.assignment.strategy": assignor,
        # Offsets are always given; one that is not there is told, and what was lost is counted (overtaken.py).
        "auto.offset.reset": "error",
        **_committed_only(),
    }


def reader_settings(bootstrap_servers: str, client: Mapping[str, str], *, careful: bool = False) -> Settings:
    """A reader without a group. librdkafka wants a group's name all the same; nothing is ever sent under it."""
    return {
        **_fetching(),
        **_shared(bootstrap_servers, client),
        "group.id": "headrace.reader",
        "auto.offset.reset": "earliest",
        **_committed_only(),
        **({"receive.message.max.bytes": CAREFUL_BYTES_MAX} if careful else {}),
    }


def _committed_only() -> Settings:
    return {
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        # Hides open and aborted records, and makes committed() ask for stable offsets.
        "isolation.level": "read_committed",
    }


def _producing(batch_bytes_max: int, linger_ms: int) -> Settings:
    return {
        "linger.ms": linger_ms,
        "retry.backoff.ms": 5,
        "compression.type": "lz4",
        "batch.size": batch_bytes_max,
        "message.max.bytes": MESSAGE_BYTES_MAX,
        "topic.metadata.propagation.max.ms": TOPIC_PROPAGATION_MS,
        # Java's choice for a key, so that any client's producer meets the same partition.
        "partitioner": "murmur2_random",
    }


def producer_settings(
    bootstrap_servers: str,
    client: Mapping[str, str],
    *,
    transactional_id: str,
    batch_bytes_max: int,
    compression: str = "lz4",
) -> Settings:
    """A transactional producer."""
    return {
        # Measured: an answer alone is out 1 ms sooner than with 5, and 2,000 together are not slower.
        **_producing(batch_bytes_max, linger_ms=1),
        "compression.type": compression,
        **_shared(bootstrap_servers, client),
        "transactional.id": transactional_id,
        "transaction.timeout.ms": TRANSACTION_TIMEOUT_S * 1000,
        # Without these lines in its log nobody would know that the client has sent a request twice (watch.py).
        "log.connection.close": True,
        "acks": "all",
        # Nothing is called for a record that arrived: success is the commit's to tell.
        "delivery.report.only.error": True,
    }


def plain_producer_settings(
    bootstrap_servers: str, client: Mapping[str, str], *, delivery_s_max: float
) -> Settings:
    """Heartbeats, the command line, the producers of tests."""
    return {
        **_producing(1_000_000, linger_ms=5),
        "message.timeout.ms": int(delivery_s_max * 1000),
        **_shared(bootstrap_servers, client),
        "enable.idempotence": True,
        "acks": "all",
    }


def admin_settings(bootstrap_servers: str, client: Mapping[str, str]) -> Settings:
    """Topics and positions."""
    return {"socket.timeout.ms": 30_000, **_shared(bootstrap_servers, client)}
