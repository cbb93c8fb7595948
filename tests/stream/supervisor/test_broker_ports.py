"""The embedded broker's port is known to clients: it is never changed in silence."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from stream.broker.ports import HOST, Ports, choose_ports
from stream.errors import BrokerError
from stream.supervisor.broker_process import BrokerProcess, given_port


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server((HOST, 0)) as listening:
        yield int(listening.getsockname()[1])


def test_a_configured_port_that_is_taken_is_refused_with_who_has_it(tmp_path: Path, taken: int) -> None:
    with pytest.raises(BrokerError) as refused:
        BrokerProcess(tmp_path, taken).launch()
    assert str(refused.value).startswith(f"port {taken} ([kafka] port) is taken by ")
    assert f"(pid {os.getpid()})" in str(refused.value)


def test_the_port_of_the_last_run_that_is_taken_is_refused_and_not_changed(
    tmp_path: Path, taken: int
) -> None:
    kept = tmp_path / "broker" / "ports.json"
    kept.parent.mkdir()
    kept.write_bytes(msgspec.json.encode(Ports(taken, choose_ports(random.Random(1), proxied=False).client)))
    with pytest.raises(
        BrokerError, match=rf"port {taken} \(of the last run, kept in .*ports.json\) is taken"
    ):
        BrokerProcess(tmp_path).launch()
    assert msgspec.json.decode(kept.read_bytes(), type=Ports).client == taken


def test_the_configuration_goes_before_the_last_run_and_a_first_run_has_none() -> None:
    file = Path("ports.json")
    assert given_port(9000, Ports(1, 2), file) == (9000, "[kafka] port")
    assert given_port(None, Ports(1, 2), file) == (1, "of the last run, kept in ports.json")
    assert given_port(None, None, file) is None
