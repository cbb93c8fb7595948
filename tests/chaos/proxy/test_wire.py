"""The proxy reads request heads and EndTxn as librdkafka writes them."""

from __future__ import annotations

import struct

import pytest

from tests.chaos.proxy import wire


def end_txn_request(version: int = 1, *, commit: bool = True) -> bytes:
    head = struct.pack(">hhih", wire.END_TXN, version, 77, 7) + b"rdkafka"
    return head + struct.pack(">h", 4) + b"t.00" + struct.pack(">qhb", 4711, 3, commit)


def test_an_end_txn_request_is_read_whole() -> None:
    frame = end_txn_request()
    head = wire.parse_head(frame)
    assert (head.api, head.correlation) == (wire.END_TXN, 77)
    assert wire.parse_end_txn(frame, head) == wire.EndTxn("t.00", 4711, 3, True)


def test_a_null_client_id_takes_no_room() -> None:
    assert wire.parse_head(struct.pack(">hhih", 3, 4, 9, -1)) == wire.RequestHead(3, 4, 9, 10)


def test_a_flexible_version_is_refused() -> None:
    frame = end_txn_request(version=3)
    with pytest.raises(wire.WireError, match="flexible"):
        wire.parse_end_txn(frame, wire.parse_head(frame))


def test_the_error_of_an_end_txn_answer_follows_correlation_and_throttle() -> None:
    response = struct.pack(">iih", 77, 0, 47)
    assert (wire.correlation_of(response), wire.end_txn_error(response)) == (77, 47)
