"""The whole configuration, frozen. Read once, handed down; nothing else reads files or the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from schemas.lane import Lane
from workers.endpoint import Endpoint

Compression = Literal["none", "gzip", "snappy", "lz4", "zstd"]
InputFormat = Literal["json", "avro", "avro-registry"]
UnknownFields = Literal["name", "refuse"]

MIB = 1024 * 1024
#: The headers that the service adds to a record, and the batch around it.
OWN_BYTES_MAX = 64 * 1024


@dataclass(frozen=True, slots=True)
class KafkaSettings:
    """A broker of somebody else's. Its absence means: start the embedded one."""

    bootstrap_servers: str
    #: Further librdkafka settings, for security above all.
    client: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InputBinding:
    """An input topic or pattern, and what it decides for its records."""

    #: A name, a glob (`*`, literal dots) or a regex (`^…`).
    pattern: str
    format: InputFormat = "json"
    #: Path of the Avro schema file, with format "avro".
    schema: str | None = None
    tenant: str | None = None
    lane: Lane | None = None
    #: Fields that nobody knows: named in the result, or the record is invalid.
    unknown_fields: UnknownFields = "name"


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where answers and dead letters go."""

    results: str = "headrace.results"
    dead_letters: str = "headrace.dead-letters"
    reply_topics: tuple[str, ...] = ("headrace.results", "headrace.replies.*")
    #: Clients in Python and JavaScript read gzip as they are installed, lz4 only with more packages.
    compression: Compression = "gzip"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds with their units; each of them stops reading, none of them lets anything grow."""

    value_bytes_max: int = 16 * MIB
    dead_letter_bytes_max: int = 17 * MIB
    headers_bytes_max: int = 64 * 1024
    #: Unfinished and uncommitted records of one partition (held, running and ready): K of the ledger.
    open_records_max: int = 1_600
    #: Offsets between base and the last delivered: SPAN of the ledger.
    span_offsets_max: int = 100_000
    #: A transaction costs by partitions and requests, not by records: when busy, larger ones carry more.
    txn_records_max: int = 10_000
    txn_bytes_max: int = 16 * MIB
    txn_partitions_max: int = 64


@dataclass(frozen=True, slots=True)
class Settings:
    """One installation."""

    prefix: str = "headrace."
    kafka: KafkaSettings | None = None
    #: Of the embedded broker; None: a free one at the first start, then that one.
    broker_port: int | None = None
    registry_url: str | None = None
    inputs: tuple[InputBinding, ...] = (InputBinding("headrace.requests"),)
    outputs: Outputs = Outputs()
    endpoints: Mapping[str, Endpoint] = field(default_factory=dict)
    commit_interval_ms: int = 100
    metrics_port: int = 0
    limits: Limits = Limits()

    def work_topic(self, endpoint: str, lane: Lane) -> str:
        return f"{self.prefix}work.{endpoint}.{lane}"

    def own_topic(self, name: str) -> str:
        """`usage`, `shards`, `workers`, `replays`: one of the service's own."""
        return f"{self.prefix}{name}"

    @property
    def dispatcher_group(self) -> str:
        return f"{self.prefix}dispatcher"

    def worker_group(self, endpoint: str) -> str:
        return f"{self.prefix}worker.{endpoint}"


def slot_name(group: str, slot: int) -> str:
    """Transactional id and instance id of a slot: two or more digits, so that a new one sorts last."""
    return f"{group}.{slot:02d}"
