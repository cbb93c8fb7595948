"""The logs that one contract holds for: in memory, the embedded Kafka, a Kafka in Docker where an engine answers."""

from __future__ import annotations

import contextlib
import importlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation

from stream.log.base import LogConsumer
from stream.log.kafka.log import KafkaLog
from stream.log.memory.consumer import MemoryConsumer
from stream.log.memory.log import MemoryLog
from tests.contract.engine_stage import EngineStage, generating_endpoint, needs_vllm
from tests.contract.log_stage import Stage
from tests.stream.worker.acl import forbid
from workers.engines.choose import engine_for

#: The shortest session that a broker with default settings allows.
DOCKER_SESSION_S = 6.0
EMBEDDED_SESSION_S = 4.0
#: Of members that must stay: a machine that stands still for some seconds puts none of them out.
LONG_SESSION_S = 45.0
DOCKER_SOCKET = "/var/run/docker.sock"
#: One node cannot hold three replicas; a missing topic must stay missing.
KAFKA_SETTINGS = {
    "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
    "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR": "1",
    "KAFKA_AUTO_CREATE_TOPICS_ENABLE": "false",
    "KAFKA_TRANSACTION_ABORT_TIMED_OUT_TRANSACTION_CLEANUP_INTERVAL_MS": "1000",
}


@pytest.fixture(scope="session")
def docker_kafka() -> Iterator[str]:
    """Bootstrap servers of a Kafka in a container; skips without a Docker engine, which CI allows."""
    if not Path(DOCKER_SOCKET).is_socket() and "DOCKER_HOST" not in os.environ:
        pytest.skip("no Docker engine: neither a socket nor DOCKER_HOST")
    docker = importlib.import_module("docker")
    kafka = importlib.import_module("testcontainers.community.kafka")
    try:
        with contextlib.closing(docker.from_env(timeout=5)) as engine:
            engine.ping()
    except docker.errors.DockerException as error:
        pytest.skip(f"no Docker engine answers: {error}")
    container = kafka.KafkaContainer().with_kraft()
    for name, value in KAFKA_SETTINGS.items():
        container.with_env(name, value)
    with container:
        yield container.get_bootstrap_server()


def _memory_stage(unique: Callable[[str], str]) -> Stage:
    def stall(consumer: LogConsumer) -> None:
        assert isinstance(consumer, MemoryConsumer)
        consumer.lose()

    log = MemoryLog(session_timeout_s=0.5)

    return Stage(log, unique, log, stall, log.deny)


def _kafka_stage(unique: Callable[[str], str], servers: str, session_s: float) -> Stage:
    short, long = ({"session.timeout.ms": str(int(each * 1000))} for each in (session_s, LONG_SESSION_S))
    poll_s_max = session_s + 1

    def stall(_consumer: LogConsumer) -> None:
        time.sleep(poll_s_max + 1.5)

    hasty = KafkaLog(servers, {**short, "max.poll.interval.ms": str(int(poll_s_max * 1000))})
    return Stage(KafkaLog(servers, long), unique, hasty, stall)


@pytest.fixture(scope="session")
def vllm_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineStage]:
    """One vLLM for all tests of generation: it takes a minute to start. The last of them kill it."""
    needs_vllm()
    stage = EngineStage(engine_for(generating_endpoint("vllm"), tmp_path_factory.mktemp("engine")))
    yield stage
    stage.close()


@pytest.fixture(
    params=[
        "memory",
        pytest.param("kafka", marks=pytest.mark.broker),
        pytest.param("docker", marks=pytest.mark.broker),
    ]
)
def stage(request: pytest.FixtureRequest, unique: Callable[[str], str]) -> Iterator[Stage]:
    """Each test of the contract runs on every log."""
    if request.param == "memory":
        made = _memory_stage(unique)
    elif request.param == "kafka":
        servers = request.getfixturevalue("kafka").bootstrap_servers
        made = _kafka_stage(unique, servers, EMBEDDED_SESSION_S)
        made.deny = lambda topic, operation: forbid(AclOperation[operation.upper()], servers, topic)
    else:
        made = _kafka_stage(unique, request.getfixturevalue("docker_kafka"), DOCKER_SESSION_S)
    yield made
    made.close()
