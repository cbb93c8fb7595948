"""The broker's settings as text: server.properties, log4j2.properties, the cluster id."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path

from stream.broker.ports import HOST, Ports

#: Above the largest dead letter (17 MiB) with its headers and the batch around it.
MESSAGE_BYTES_MAX = 18 * 1024 * 1024

LOGGING = """\
status = warn
appender.out.type = Console
appender.out.name = OUT
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d %p %m (%c)%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = OUT
"""

#: What does not depend on the place. One node cannot hold 3 replicas, hence the replication lines.
FIXED: Mapping[str, str] = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "num.partitions": "4",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    # Automatic creation would turn an answer to a mistyped reply topic into a new topic of that name.
    "auto.create.topics.enable": "false",
    # A dead worker's transaction hides everything behind it until the broker's sweep: sweep each second.
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
    # After kill -9 the old registration must expire first: 5 s in place of 12-14.
    "broker.session.timeout.ms": "2000",
    "broker.heartbeat.interval.ms": "500",
    # A lone controller has nobody to tell that it lives: with the default of 500 ms it costs 3 % of a core at rest.
    "metadata.max.idle.interval.ms": "5000",
    # An installation that rests for a month must not forget what it has done (default: 7 days). Here: ten years.
    "offsets.retention.minutes": "5256000",
    "message.max.bytes": str(MESSAGE_BYTES_MAX),
    "replica.fetch.max.bytes": str(MESSAGE_BYTES_MAX),
    "replica.fetch.response.max.bytes": str(2 * MESSAGE_BYTES_MAX),
    # The default of 128 MiB is a quarter of the heap; our compacted topics are small.
    "log.cleaner.dedupe.buffer.size": str(16 * 1024 * 1024),
}


def server_properties(
    data_dir: Path, ports: Ports, *, advertised_port: int | None, extra: Mapping[str, str]
) -> dict[str, str]:
    """All settings; `extra` wins. `advertised_port` is the proxy in front of `ports.proxied`."""
    listeners = {"PLAINTEXT": ports.client, "CONTROLLER": ports.controller}
    advertised = {"PLAINTEXT": ports.client}
    if ports.proxied is not None and advertised_port is not None:
        listeners["PROXIED"] = ports.proxied
        advertised["PROXIED"] = advertised_port
    return {
        **FIXED,
        "controller.quorum.voters": f"1@{HOST}:{ports.controller}",
        "listeners": _addresses(listeners),
        "advertised.listeners": _addresses(advertised),
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in sorted(listeners)),
        "log.dirs": str(data_dir),
        **extra,
    }


def _addresses(ports: Mapping[str, int]) -> str:
    return ",".join(f"{name}://{HOST}:{port}" for name, port in ports.items())


def as_text(properties: Mapping[str, str]) -> str:
    """Java's properties format: a backslash would start an escape, and what is not ASCII would be read as Latin-1."""
    return "".join(f"{name}={_escaped(value)}\n" for name, value in properties.items())


def _escaped(value: str) -> str:
    units = value.replace("\\", "\\\\").encode("utf-16-be")
    codes = [int.from_bytes(units[place : place + 2]) for place in range(0, len(units), 2)]
    return "".join(chr(code) if code < 0x80 else f"\\u{code:04x}" for code in codes)


def cluster_id(draw: Callable[[int], bytes] = secrets.token_bytes) -> str:
    """16 random bytes as unpadded URL-safe base64: 22 characters. Kafka refuses one that starts with '-'."""
    while True:
        text = base64.urlsafe_b64encode(draw(16)).rstrip(b"=").decode()
        if not text.startswith("-"):
            return text
