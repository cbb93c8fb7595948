"""The embedded broker, for real."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from stream.broker import EmbeddedBroker, Ports
from stream.broker.ports import HOST
from stream.errors import BrokerError
from stream.processes.identity import started_of

pytestmark = pytest.mark.broker


@pytest.fixture
def own(tmp_path: Path) -> Iterator[EmbeddedBroker]:
    """A broker that the test may kill."""
    broker = EmbeddedBroker(tmp_path / "broker", log_file=tmp_path / "logs" / "broker.log")
    yield broker
    broker.kill()


def create(servers: str, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(topic, 1)])[topic].result(60)


def produce(servers: str, topic: str, value: bytes) -> None:
    errors: list[object] = []
    producer = Producer({"bootstrap.servers": servers, "message.max.bytes": 20 * 1024 * 1024})
    producer.produce(topic, value, on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(60) == 0
    assert errors == [None]


def read_one(servers: str, topic: str) -> bytes:
    group = f"reader-of-{topic}"
    consumer = Consumer({"bootstrap.servers": servers, "group.id": group, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    try:
        until = time.monotonic() + 60
        # A broker that has just started may first tell of a topic or a coordinator that is not there yet.
        while (message := consumer.poll(1)) is None or message.error() is not None:
            assert time.monotonic() < until
        value = message.value()
        assert isinstance(value, bytes)
        return value
    finally:
        consumer.close()


def test_a_record_of_17_mib_comes_back_whole(kafka: EmbeddedBroker, unique: Callable[[str], str]) -> None:
    servers, name = kafka.bootstrap_servers, unique("large-dead-letters")
    admin = AdminClient({"bootstrap.servers": servers})
    topic = NewTopic(name, 1, config={"max.message.bytes": str(18 * 1024 * 1024)})
    admin.create_topics([topic])[name].result(60)
    value = os.urandom(17 * 1024 * 1024)
    produce(servers, name, value)
    assert read_one(servers, name) == value


def test_a_topic_that_nobody_created_does_not_appear(kafka: EmbeddedBroker) -> None:
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
    admin.list_topics("mistyped", timeout=60)
    assert "mistyped" not in admin.list_topics(timeout=60).topics


def test_acknowledged_records_survive_kill_9_and_the_ports_stay(own: EmbeddedBroker) -> None:
    servers = own.start()
    create(servers, "kept")
    produce(servers, "kept", b"before the crash")
    own.kill()
    assert own.start() == servers
    assert read_one(servers, "kept") == b"before the crash"


def test_a_second_broker_over_the_same_directory_is_refused_with_the_owner(
    own: EmbeddedBroker, tmp_path: Path
) -> None:
    own.start()
    second = EmbeddedBroker(tmp_path / "broker")
    with pytest.raises(BrokerError, match=rf"another broker holds .*\(pid {own.pid}\)"):
        second.start()


def test_stop_ends_the_jvm_cleanly(own: EmbeddedBroker) -> None:
    own.start()
    pid = own.pid
    own.stop()
    assert own.child.exit_code() == 128 + signal.SIGTERM
    assert started_of(pid) is None


def test_a_start_that_fails_carries_the_brokers_last_error_line(tmp_path: Path) -> None:
    broker = EmbeddedBroker(tmp_path / "broker", extra_properties={"log.cleaner.threads": "many"})
    with pytest.raises(BrokerError, match="many"):
        broker.start()


def test_a_taken_port_that_was_fixed_is_an_error_that_says_so(tmp_path: Path) -> None:
    with socket.socket() as holder:
        holder.bind((HOST, 0))
        holder.listen()
        broker = EmbeddedBroker(tmp_path / "broker", ports=Ports(holder.getsockname()[1], 20_001))
        with pytest.raises(BrokerError, match="in use"):
            broker.start()


def test_the_second_listener_sends_clients_through_the_proxys_port(tmp_path: Path) -> None:
    with socket.socket() as reserved:
        reserved.bind((HOST, 0))
        proxy_port = reserved.getsockname()[1]
    broker = EmbeddedBroker(tmp_path / "broker", advertised_port=proxy_port)
    try:
        broker.start()
        admin = AdminClient({"bootstrap.servers": broker.proxied_servers})
        assert [node.port for node in admin.list_topics(timeout=60).brokers.values()] == [proxy_port]
    finally:
        broker.kill()


def test_is_ready_is_false_before_it_serves(own: EmbeddedBroker) -> None:
    own.launch()
    os.kill(own.pid, signal.SIGSTOP)  # the question waits for an answer a little
    assert not own.is_ready()
    os.kill(own.pid, signal.SIGCONT)
    deadline = time.monotonic() + 120
    while not own.is_ready():
        assert time.monotonic() < deadline
        time.sleep(0.1)
