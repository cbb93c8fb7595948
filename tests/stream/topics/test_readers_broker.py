"""Outputs as clients in other languages' ways read them: kafka-python and aiokafka as pip installs them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from stream.broker import EmbeddedBroker
from stream.config.settings import Outputs, Settings
from stream.log.base import Output
from stream.log.kafka.log import kafka_log
from stream.process_context import ProcessContext
from stream.topics import ensure_topics
from workers.endpoint import Endpoint

pytestmark = pytest.mark.broker

VALUES = [f"answer {number} ".encode() * 100 for number in range(50)]
READ_S = 60


@pytest.fixture
def written(kafka: EmbeddedBroker, unique: Callable[[str], str], tmp_path: Path) -> tuple[str, list[str]]:
    """Servers, and the topics of results and of dead letters: a worker wrote to both, a dispatcher to the second."""
    prefix = f"{unique('readers')}."
    outputs = Outputs(f"{prefix}results", f"{prefix}dead-letters", (f"{prefix}results",))
    settings = Settings(prefix, outputs=outputs, endpoints={"sim": Endpoint("sim", engine="simulated")})
    place = ProcessContext(kafka.bootstrap_servers, tmp_path, "test")
    ensure_topics(kafka_log(place).admin(), settings)
    publish(place, settings.outputs.compression, f"{prefix}w", [outputs.results])
    publish(place, "lz4", f"{prefix}d", [outputs.dead_letters])
    return kafka.bootstrap_servers, [outputs.results, outputs.dead_letters]


def publish(place: ProcessContext, compression: str, transactional_id: str, topics: list[str]) -> None:
    with closing(kafka_log(place, compression).producer(transactional_id)) as producer:
        producer.start(READ_S)
        producer.publish([Output(topic, None, value, []) for topic in topics for value in VALUES], [], None)


@pytest.mark.parametrize("client", ["kafka_python", "aiokafka"])
def test_a_client_as_pip_installs_it_reads_results_and_dead_letters(
    written: tuple[str, list[str]], client: str
) -> None:
    servers, topics = written
    script = Path(__file__).with_name(f"read_with_{client}.py")
    command = [sys.executable, str(script), servers, str(2 * len(VALUES)), *topics]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=READ_S, check=False)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    for topic in topics:
        assert sorted(value for where, value in found if where == topic) == sorted(
            value.decode() for value in VALUES
        )


def test_confluent_kafka_reads_results_and_dead_letters(
    written: tuple[str, list[str]], tmp_path: Path
) -> None:
    servers, topics = written
    with closing(kafka_log(ProcessContext(servers, tmp_path, "reader")).reader(topics)) as reader:
        found: list[tuple[str, bytes | None]] = []
        while len(found) < 2 * len(VALUES):
            found += [(each.topic(), each.value()) for each in reader.poll(500, READ_S).records]
    for topic in topics:
        assert sorted(value for where, value in found if where == topic and value) == sorted(VALUES)
