"""The broker's settings, ports and log lines, without a broker."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from stream.broker import EmbeddedBroker
from stream.broker.directory import error_of, exceptions_of
from stream.broker.ports import PORTS, Ports, choose_ports
from stream.broker.properties import as_text, cluster_id, server_properties
from stream.config.settings import Limits
from stream.errors import BrokerError

PORTS_2 = Ports(20_001, 20_002)


def test_without_a_proxy_there_is_one_client_listener() -> None:
    found = server_properties(Path("/data"), PORTS_2, advertised_port=None, extra={})
    assert found["listeners"] == "PLAINTEXT://127.0.0.1:20001,CONTROLLER://127.0.0.1:20002"
    assert found["advertised.listeners"] == "PLAINTEXT://127.0.0.1:20001"


def test_the_proxied_listener_advertises_the_proxys_port() -> None:
    found = server_properties(Path("/data"), Ports(20_001, 20_002, 20_003), advertised_port=9, extra={})
    assert found["listeners"].endswith("PROXIED://127.0.0.1:20003")
    assert found["advertised.listeners"] == "PLAINTEXT://127.0.0.1:20001,PROXIED://127.0.0.1:9"
    assert "PROXIED:PLAINTEXT" in found["listener.security.protocol.map"]


def test_extra_properties_win() -> None:
    found = server_properties(Path("/data"), PORTS_2, advertised_port=None, extra={"num.partitions": "9"})
    assert found["num.partitions"] == "9"


def test_the_broker_takes_the_largest_dead_letter_with_its_headers() -> None:
    limits = Limits()
    taken = int(
        server_properties(Path("/data"), PORTS_2, advertised_port=None, extra={})["message.max.bytes"]
    )
    assert taken >= limits.dead_letter_bytes_max + 2 * limits.headers_bytes_max


def test_a_backslash_in_a_path_is_escaped() -> None:
    assert as_text({"log.dirs": "a\\b"}) == "log.dirs=a\\\\b\n"


def test_what_is_not_ascii_in_a_path_is_escaped() -> None:
    assert as_text({"log.dirs": "/bjørn/\U0001f600 #=:"}) == "log.dirs=/bj\\u00f8rn/\\ud83d\\ude00 #=:\n"


def test_a_folder_with_a_comma_is_refused_before_kafka_makes_two_of_it(tmp_path: Path) -> None:
    with pytest.raises(BrokerError, match="choose another --state-dir"):
        EmbeddedBroker(tmp_path / "a,b").launch()
    assert list(tmp_path.iterdir()) == []


def test_a_cluster_id_never_starts_with_a_dash() -> None:
    draws = iter([b"\xfb" + bytes(15), bytes(16)])
    assert cluster_id(lambda _: next(draws)) == "A" * 22


def test_ports_are_different_and_outside_the_ephemeral_range() -> None:
    ports = choose_ports(random.Random(1), proxied=True, free=lambda _: True)
    assert len(set(ports.all())) == 3
    assert set(ports.all()) <= set(PORTS)


def test_a_machine_without_free_ports_is_an_error() -> None:
    with pytest.raises(BrokerError, match="no free port"):
        choose_ports(random.Random(1), proxied=False, free=lambda _: False)


LOG = """\
2026-01-01 ERROR first (a)
2026-01-01 ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)
java.lang.RuntimeException: Unable to start
\tat kafka.Exception.somewhere(Kafka.java:1)
\t... 6 more
Caused by: java.net.BindException: Address already in use
"""


def test_the_reason_is_the_last_error_line_with_its_causes() -> None:
    assert error_of(LOG) == (
        "2026-01-01 ERROR Exiting Kafka due to fatal exception (kafka.Kafka$) | java.lang.RuntimeException: "
        "Unable to start | Caused by: java.net.BindException: Address already in use"
    )


def test_a_log_without_an_error_line_has_no_reason() -> None:
    assert error_of("2026-01-01 WARN nothing bad") is None


def test_of_a_tools_output_the_exceptions_are_kept_and_without_any_the_whole() -> None:
    assert exceptions_of("Exception in thread main\n\tat x.y(Z.java)\n") == "Exception in thread main"
    assert exceptions_of(" no such option\n") == "no such option"
