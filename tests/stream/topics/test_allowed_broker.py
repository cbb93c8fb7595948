"""Each role's start on a broker that denies it one thing: one clear refusal, before a record is read."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from confluent_kafka.admin import AclOperation, ResourceType

from stream.broker import EmbeddedBroker
from stream.config.settings import InputBinding, Outputs, Settings
from stream.dispatcher.dependencies import DispatcherDependencies
from stream.dispatcher.role import run_dispatcher
from stream.errors import RightMissing
from stream.log.kafka.log import kafka_log
from stream.process_context import ProcessContext
from stream.topics import ensure_topics
from stream.worker.dependencies import EngineSide, WorkerDependencies
from stream.worker.role import serve
from tests.stream.worker.acl import forbid
from workers.clock import SystemClock
from workers.endpoint import Endpoint
from workers.engines.choose import engine_for
from workers.journal import NoJournal
from workers.retry_policy import RetryPolicy
from workers.runner import Runner

pytestmark = pytest.mark.broker

TOPIC, GROUP, ID = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID
READ, WRITE, DELETE, DESCRIBE = (
    AclOperation.READ,
    AclOperation.WRITE,
    AclOperation.DELETE,
    AclOperation.DESCRIBE,
)
Denied = tuple[ResourceType, str, AclOperation]

DISPATCHER: list[Denied] = [
    (TOPIC, "requests", READ),
    (TOPIC, "work.sim.batch", WRITE),
    (TOPIC, "results", WRITE),
    (TOPIC, "dead-letters", WRITE),
    (ID, "dispatcher.00", WRITE),
    (ID, "dispatcher.00", DESCRIBE),
]
WORKER: list[Denied] = [
    (TOPIC, "work.sim.interactive", READ),
    (TOPIC, "work.sim.batch", DELETE),
    (TOPIC, "results", WRITE),
    (TOPIC, "dead-letters", WRITE),
    (TOPIC, "usage", WRITE),
    (TOPIC, "workers", WRITE),
    (ID, "worker.sim.00", WRITE),
    (ID, "worker.sim.00", DESCRIBE),
]
SPOKEN = {TOPIC: "topic", GROUP: "group", ID: "transactional-id"}
#: A role that is not refused within this is not refused.
PATIENCE_S = 120.0


class NoEngine:
    """A refused worker never loads a model."""

    def start(self, _timeout_s: float, _stopped: Callable[[], bool]) -> None:
        raise AssertionError("the engine was started")

    def stop(self, _timeout_s: float) -> None:
        """Nothing runs."""


NO_ENGINE = cast(EngineSide, NoEngine())


@pytest.fixture
def place(kafka: EmbeddedBroker, tmp_path: Path) -> ProcessContext:
    return ProcessContext(kafka.bootstrap_servers, tmp_path, "role-00")


@pytest.fixture
def settings(place: ProcessContext, unique: Callable[[str], str]) -> Settings:
    prefix = f"{unique('rights')}."
    made = Settings(
        prefix=prefix,
        inputs=(InputBinding(f"{prefix}requests"),),
        outputs=Outputs(f"{prefix}results", f"{prefix}dead-letters", (f"{prefix}results",)),
        endpoints={"sim": Endpoint("sim", engine="simulated", partitions=1)},
    )
    ensure_topics(kafka_log(place).admin(), made)
    return made


def patience() -> Callable[[], bool]:
    until_s = time.monotonic() + PATIENCE_S
    return lambda: time.monotonic() > until_s


def run_the_dispatcher(settings: Settings, place: ProcessContext) -> None:
    parts = DispatcherDependencies(kafka_log(place), time.monotonic, SystemClock().now_ms, stopped=patience())
    run_dispatcher(settings, 0, place, parts=parts)


def run_the_worker(settings: Settings, place: ProcessContext, runner: EngineSide = NO_ENGINE) -> None:
    parts = WorkerDependencies(
        kafka_log(place), runner, time.monotonic, SystemClock().now_ms, stopped=patience()
    )
    serve(settings, settings.endpoints["sim"], 0, place.process_name, parts)


def refused(
    settings: Settings, place: ProcessContext, denied: Denied, run: Callable[[Settings, ProcessContext], None]
) -> None:
    """In one line that names the right and the resource, and says what to do."""
    resource, name, operation = denied
    forbid(operation, place.bootstrap_servers, settings.prefix + name, resource)
    with pytest.raises(RightMissing) as raised:
        run(settings, place)
    [line] = str(raised.value).splitlines()
    assert f" on {SPOKEN[resource]} {settings.prefix}{name}: allow it with kafka-acls --add " in line
    assert f"--operation {operation.name.capitalize()}" in line
    assert raised.value.exit_code == 1


@pytest.mark.parametrize("denied", DISPATCHER, ids=lambda denied: f"{denied[1]}-{denied[2].name}")
def test_a_dispatcher_that_lacks_a_right_is_refused(
    settings: Settings, place: ProcessContext, denied: Denied
) -> None:
    refused(settings, place, denied, run_the_dispatcher)


@pytest.mark.parametrize("denied", WORKER, ids=lambda denied: f"{denied[1]}-{denied[2].name}")
def test_a_worker_that_lacks_a_right_is_refused_before_its_engine_loads(
    settings: Settings, place: ProcessContext, denied: Denied
) -> None:
    refused(settings, place, denied, run_the_worker)


@pytest.mark.parametrize("operation", [READ, DESCRIBE])
def test_a_missing_right_on_the_group_is_refused_when_the_role_joins(
    settings: Settings, place: ProcessContext, operation: AclOperation
) -> None:
    endpoint = settings.endpoints["sim"]
    runner = Runner(
        engine_for(endpoint, place.state_dir),
        RetryPolicy.of(endpoint),
        SystemClock(),
        random.Random(1),
        NoJournal(),
    )
    refused(settings, place, (GROUP, "dispatcher", operation), run_the_dispatcher)
    refused(settings, place, (GROUP, "worker.sim", operation), partial(run_the_worker, runner=runner))


def test_a_reply_topic_that_may_not_be_written_keeps_no_worker_from_its_engine(
    settings: Settings, place: ProcessContext
) -> None:
    forbid(WRITE, place.bootstrap_servers, f"{settings.prefix}replies.acme")
    with pytest.raises(AssertionError, match="the engine was started"):
        run_the_worker(settings, place)
