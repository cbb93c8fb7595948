"""One Produce request made by hand (KIP-98 records), for header names that no client of ours would send.

Layouts: https://kafka.apache.org/protocol and https://kafka.apache.org/documentation/#messageformat.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Sequence
from typing import Final, NamedTuple

RawHeader = tuple[bytes, bytes | None]
PRODUCE: Final = 0
#: The oldest that brokers of today take.
VERSION: Final = 3
TIMEOUT_S: Final = 30.0
PATIENCE_S: Final = 60.0
#: Leader not available, not the leader: nothing is written.
LEADERLESS: Final = (5, 6)
_CRC32C: Final = 0x82F63B78


class RawRecord(NamedTuple):
    key: bytes
    value: bytes
    headers: Sequence[RawHeader]


def produce_raw(bootstrap_servers: str, topic: str, records: Sequence[RawRecord]) -> None:
    """To partition 0, in one batch, as soon as the broker leads it: a slow one is set aside for a moment."""
    batch, until_s = _batch(records), time.monotonic() + PATIENCE_S
    while (error := _sent(bootstrap_servers, topic, batch)) in LEADERLESS and time.monotonic() < until_s:
        time.sleep(0.1)
    assert error == 0, f"the broker refuses the batch: error {error}"


def _sent(bootstrap_servers: str, topic: str, batch: bytes) -> int:
    """The broker's error; 0: it is written."""
    host, _, port = bootstrap_servers.rpartition(":")
    body = struct.pack(">hhiih", -1, -1, int(TIMEOUT_S * 1000), 1, len(topic)) + topic.encode()
    body += struct.pack(">iii", 1, 0, len(batch)) + batch
    frame = struct.pack(">hhih", PRODUCE, VERSION, 1, -1) + body
    with (
        socket.create_connection((host, int(port)), TIMEOUT_S) as connection,
        connection.makefile("rwb") as stream,
    ):
        stream.write(struct.pack(">i", len(frame)) + frame)
        stream.flush()
        (length,) = struct.unpack(">i", stream.read(4))
        answer = stream.read(length)
    # correlation, one topic with its name, one partition with its number: then the error
    error: int = struct.unpack_from(">h", answer, 4 + 4 + 2 + len(topic) + 4 + 4)[0]
    return error


def _batch(records: Sequence[RawRecord]) -> bytes:
    """Format 2, of nobody's producer id."""
    last, now_ms = len(records) - 1, 1_764_400_000_000
    rest = struct.pack(">hiqqqhii", 0, last, now_ms, now_ms, -1, -1, -1, len(records))
    rest += b"".join(_sized(_record(number, each)) for number, each in enumerate(records))
    head = struct.pack(">ibI", -1, 2, _crc32c(rest))
    return struct.pack(">qi", 0, len(head) + len(rest)) + head + rest


def _record(number: int, record: RawRecord) -> bytes:
    headers = b"".join(_sized(name) + _sized(value) for name, value in record.headers)
    fields = _varint(0) + _varint(number) + _sized(record.key) + _sized(record.value)
    return b"\0" + fields + _varint(len(record.headers)) + headers


def _sized(content: bytes | None) -> bytes:
    return _varint(-1) if content is None else _varint(len(content)) + content


def _varint(number: int) -> bytes:
    """Zigzag: small ones of either sign take one byte."""
    left = number * 2 if number >= 0 else -number * 2 - 1
    out = bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*out, left])


def _crc32c(content: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (_CRC32C if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
