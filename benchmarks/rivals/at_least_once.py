"""The worker without transactions: outputs by a plain producer, flushed, then the same offsets and maps committed apart.

Everything else is the real worker. A crash between flush and commit repeats answers: at least once.
`python -m benchmarks.rivals.at_least_once --endpoint X --slot N -c FILE --state-dir DIR`
"""

# ruff: noqa: ARG002 - a plain producer has no use for what only transactions need
from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from confluent_kafka import KafkaError, Message, Producer, TopicPartition

from stream.cli.installation import find_installation
from stream.cli.logs import log_to_stderr
from stream.cli.options import installation_options
from stream.errors import LogError
from stream.log import kafka_settings
from stream.log.base import Assignor, GroupStamp, OffsetCommit, Outcome, Output, Success, nowhere
from stream.log.kafka import KafkaLog, kafka_log
from stream.log.kafka_consumer import KafkaConsumer
from stream.metrics.server import serve_metrics
from stream.place import Place
from stream.role.stop_signal import StopSignal
from stream.supervisor.report import RoleState, report
from stream.worker.parts import Parts
from stream.worker.run import run_worker
from workers.clock import SystemClock
from workers.endpoint import Endpoint
from workers.engines.choose import engine_for
from workers.journal import Journal, journal_path
from workers.rules import Rules
from workers.runner import Runner

FLUSH_S = 30.0


class CommittingConsumer(KafkaConsumer):
    """The worker's consumer, which also commits."""

    def commit(self, offsets: Sequence[OffsetCommit]) -> None:
        positions = [TopicPartition(one.topic, one.partition, one.offset, one.metadata) for one in offsets]
        for position in self._client.commit(offsets=positions, asynchronous=False):
            if position.error is not None:
                raise LogError(f"commit of {position.topic}/{position.partition}: {position.error}")


class PlainPublisher:
    """A `LogProducer` that knows no transactions."""

    def __init__(self, settings: kafka_settings.Settings, log: AtLeastOnceLog) -> None:
        self._log = log
        self._failed: list[str] = []
        only_errors = {"delivery.report.only.error": True, "on_delivery": self._note}
        self._client = Producer({**settings, **only_errors})

    def start(self, timeout_s: float) -> None:
        """Nobody is fenced."""

    def publish(
        self,
        outputs: Sequence[Output],
        offsets: Sequence[OffsetCommit],
        group: GroupStamp | None,
        *,
        attribute: bool = False,
        reach: Callable[[str], None] = nowhere,
    ) -> Outcome:
        produce = self._client.produce
        for topic, key, value, headers, partition, timestamp_ms in outputs:
            produce(topic, value, key, partition, None, None, timestamp_ms, headers)
        left = self._client.flush(FLUSH_S)
        if left or self._failed:
            raise LogError(f"{left} outputs were not delivered; {self._failed[:3]}")
        self._log.consumers[-1].commit(offsets)
        return Success()

    def is_fenced(self, group: GroupStamp) -> bool:
        return False

    def close(self) -> None:
        self._client.flush(FLUSH_S)

    def _note(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            self._failed.append(error.str())


@dataclass(frozen=True, slots=True)
class AtLeastOnceLog(KafkaLog):
    """One consumer and one plain publisher; all else is real."""

    consumers: list[CommittingConsumer] = field(default_factory=list)

    def consumer(
        self,
        group: str,
        instance_id: str | None = None,
        *,
        assignor: Assignor = "range",
        regex_refresh_ms: int = 3_000,
    ) -> KafkaConsumer:
        settings = kafka_settings.consumer_settings(
            self.bootstrap_servers,
            self.client,
            group=group,
            instance_id=instance_id,
            assignor=assignor,
            regex_refresh_ms=regex_refresh_ms,
        )
        self.consumers.append(CommittingConsumer(settings, cooperative=False))
        return self.consumers[-1]

    def producer(self, transactional_id: str, *, batch_bytes_max: int = 1_000_000) -> PlainPublisher:  # type: ignore[override]
        plain = kafka_settings.plain_producer_settings(self.bootstrap_servers, self.client)
        return PlainPublisher({**plain, "linger.ms": 1, "batch.size": batch_bytes_max}, self)


def main() -> int:
    parser = argparse.ArgumentParser(parents=[installation_options()])
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--slot", type=int, required=True)
    arguments = parser.parse_args()
    log_to_stderr()
    found = find_installation(arguments)
    name, slot = arguments.endpoint, arguments.slot
    place = found.place(f"worker-{name}-{slot:02d}")
    server = serve_metrics(found.settings.metrics_port)

    def say(state: RoleState) -> None:
        report(place, state, server.url)

    real = kafka_log(place)
    parts = Parts(
        log=AtLeastOnceLog(real.bootstrap_servers, real.client),
        runner=_runner(found.settings.endpoints[name], place),
        clock_s=time.monotonic,
        now_ms=SystemClock().now_ms,
        metrics=server.metrics,
        stopped=StopSignal(),
        report=say,
    )
    return run_worker(found.settings, name, slot, place, parts=parts)


def _runner(endpoint: Endpoint, place: Place) -> Runner:
    journal = Journal(journal_path(place.state_dir, place.process_name))
    return Runner(
        engine_for(endpoint, place.state_dir), Rules.of(endpoint), SystemClock(), random.Random(), journal
    )


if __name__ == "__main__":
    sys.exit(main())
