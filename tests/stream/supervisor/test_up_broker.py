"""`headrace up` with the embedded broker and dummy roles."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from tests.stream.supervisor.installation import Installation, gone

pytestmark = pytest.mark.broker


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Installation]:
    installation = Installation(tmp_path / "state", "embedded", "dispatcher-00")
    yield installation
    installation.end()


def topics(servers: str) -> set[str]:
    admin = AdminClient({"bootstrap.servers": servers})
    return set(admin.list_topics(timeout=60).topics)


def test_the_broker_keeps_its_port_over_a_crash_and_ends_last_and_cleanly(up: Installation) -> None:
    up.ready()
    servers = up.runtime()["bootstrap_servers"]
    assert {"headrace.requests", "headrace.results", "headrace.dead-letters"} <= topics(servers)
    first = up.kill("broker")
    up.await_state("broker", "running", other_than=first)
    assert up.runtime()["bootstrap_servers"] == servers
    assert "headrace.requests" in topics(servers)
    jvm = up.pid("broker")
    assert up.stop() == 0
    assert gone(jvm)
    assert up.runtime() == {
        "bootstrap_servers": None,
        "redis_url": None,
        "gateway_url": None,
        "metrics_urls": {},
        "processes": [],
        "supervisor": None,
    }


def test_a_start_over_a_killed_supervisor_finds_data_and_address_again(
    up: Installation, tmp_path: Path
) -> None:
    ready = up.ready()
    jvm = up.pid("broker")
    os.kill(up.process.pid, signal.SIGKILL)
    up.process.wait(60)
    second = Installation(tmp_path / "state", "embedded", "dispatcher-00")
    try:
        assert second.ready() == ready
        assert gone(jvm)
        assert second.stop(signal.SIGINT) == 130
    finally:
        second.end()
