"""What the tests of the worker on a real Kafka share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stream.broker import EmbeddedBroker
from stream.log.kafka.log import kafka_log
from stream.process_context import ProcessContext
from tests.stream.worker.installation import Installation


@pytest.fixture
def installation(
    kafka: EmbeddedBroker, unique: Callable[[str], str], tmp_path: Path
) -> Iterator[Installation]:
    place = ProcessContext(kafka.bootstrap_servers, tmp_path, "worker-sim-00")
    made = Installation(kafka_log(place), place, f"{unique('house')}.")
    yield made
    made.stop()
