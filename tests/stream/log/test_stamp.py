"""The proof of membership is read as librdkafka writes it, or not at all."""

from __future__ import annotations

import struct

import pytest
from confluent_kafka import Consumer
from hypothesis import given
from hypothesis import strategies as st

from stream.errors import LogError
from stream.log.kafka.consumer import KafkaConsumer
from stream.log.kafka.settings import Settings
from stream.log.stamp import parse_stamp

_NAMES = st.text(st.characters(exclude_characters="\0", codec="utf-8"))


@given(st.integers(-1, 2**31 - 1), _NAMES, _NAMES, st.none() | _NAMES)
def test_generation_and_member_come_back(
    generation: int, group: str, member: str, instance: str | None
) -> None:
    end = b"\x01" if instance is None else b"\0" + instance.encode() + b"\0"
    metadata = (
        b"CGMDv2:" + struct.pack("=i", generation) + group.encode() + b"\0" + member.encode() + b"\0" + end
    )
    assert parse_stamp(metadata) == (generation, member)


def test_the_client_of_today_writes_that_layout() -> None:
    consumer = Consumer({"group.id": "g", "bootstrap.servers": "127.0.0.1:1", "log_level": 0})
    assert parse_stamp(consumer.consumer_group_metadata()) == (-1, "")
    consumer.close()


@pytest.mark.parametrize(
    "metadata", [b"", b"CGMDv3:\0\0\0\0g\0m\0\x01", b"CGMDv2:\0\0", b"CGMDv2:\0\0\0\0group"]
)
def test_another_layout_is_refused(metadata: bytes) -> None:
    with pytest.raises(LogError, match="not supported"):
        parse_stamp(metadata)


def test_a_consumer_that_is_closed_is_no_member_and_says_so_in_the_clients_form() -> None:
    settings: Settings = {"group.id": "g", "bootstrap.servers": "127.0.0.1:1", "log_level": 0}
    consumer = KafkaConsumer(settings)
    consumer.close()
    stamp = consumer.group()
    assert not stamp.valid
    assert isinstance(stamp.native, bytes)
    assert parse_stamp(stamp.native) == (-1, "")
