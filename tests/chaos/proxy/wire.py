"""The few bytes of Kafka's protocol that the proxy reads: request heads, names in them, EndTxn, its answer.

Layouts: https://kafka.apache.org/protocol. A frame here is what follows the int32 length. librdkafka 2.16 sends
the versions read here, none of them flexible (KIP-482); a flexible one is refused loudly.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

JOIN_GROUP: Final = 11
ADD_PARTITIONS_TO_TXN: Final = 24
ADD_OFFSETS_TO_TXN: Final = 25
END_TXN: Final = 26

#: First flexible version of each request that is read beyond its head.
FLEXIBLE_FROM: Final = {JOIN_GROUP: 6, ADD_PARTITIONS_TO_TXN: 3, ADD_OFFSETS_TO_TXN: 3, END_TXN: 3}

_HEAD = struct.Struct(">hhih")
_END = struct.Struct(">qhb")


class WireError(Exception):
    """A client speaks a version that this module does not read."""


class RequestHead(NamedTuple):
    """What a request is, and where its body begins in the frame."""

    api: int
    version: int
    correlation: int
    body_at: int


class EndTxn(NamedTuple):
    """The request that ends a transaction."""

    transactional_id: str
    producer_id: int
    epoch: int
    commit: bool


def parse_head(frame: bytes) -> RequestHead:
    """Read api key, version, correlation id; skip the client id."""
    api, version, correlation, client_id_length = _HEAD.unpack_from(frame)
    return RequestHead(api, version, correlation, _HEAD.size + max(client_id_length, 0))


def first_name(frame: bytes, head: RequestHead) -> tuple[str, int]:
    """The string that begins the body (a group or transactional id) and the place after it."""
    if head.version >= FLEXIBLE_FROM[head.api]:
        raise WireError(f"api {head.api} version {head.version} is flexible; the proxy reads older ones")
    (length,) = struct.unpack_from(">h", frame, head.body_at)
    begin = head.body_at + 2
    return frame[begin : begin + length].decode(), begin + length


def parse_end_txn(frame: bytes, head: RequestHead) -> EndTxn:
    """Read an EndTxn request."""
    transactional_id, at = first_name(frame, head)
    producer_id, epoch, commit = _END.unpack_from(frame, at)
    return EndTxn(transactional_id, producer_id, epoch, bool(commit))


class Joined(NamedTuple):
    """The broker's answer to a JoinGroup."""

    error: int
    generation: int


def parse_joined(response: bytes, request_version: int) -> Joined:
    """Read a JoinGroup response (versions 0 to 5; from 2 on a throttle time comes first)."""
    return Joined(*struct.unpack_from(">hi", response, 8 if request_version >= 2 else 4))


def correlation_of(response: bytes) -> int:
    """Which request a response answers."""
    return int.from_bytes(response[:4], "big", signed=True)


def end_txn_error(response: bytes) -> int:
    """The error code of an EndTxn response (versions 0 to 2): 0 is success."""
    return int.from_bytes(response[8:10], "big", signed=True)
