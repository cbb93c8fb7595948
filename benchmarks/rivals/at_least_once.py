"""The worker without transactions: outputs by a plain producer, flushed, then the same offsets and maps committed apart.

Everything else is the real worker. A crash between flush and commit repeats answers: at least once.
`python -m benchmarks.rivals.at_least_once --endpoint X --slot N -c FILE --state-dir DIR`
"""

# ruff: noqa: ARG002 - a plain producer has no use for what only transactions need
from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from confluent_kafka import KafkaError, Message, Producer, TopicPartition

from stream.background_call import BackgroundCall, Meanwhile, nothing
from stream.cli.logs import log_to_stderr
from stream.cli.options import find_installation, installation_options
from stream.errors import LogError
from stream.log.base import GroupStamp, OffsetCommit, Outcome, Output, Success, nowhere
from stream.log.kafka import settings as kafka_settings
from stream.log.kafka.consumer import KafkaConsumer
from stream.log.kafka.log import KafkaLog
from stream.log.plain import DELIVERY_S_MAX
from stream.worker.role import run_worker

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

    lives: Final = 1

    def __init__(self, settings: kafka_settings.Settings, log: AtLeastOnceLog) -> None:
        self._log = log
        self._failed: list[str] = []
        self._waiting = BackgroundCall("transactions")
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
        while_waiting: Meanwhile = nothing,
        life: int | None = None,
    ) -> Outcome:
        produce = self._client.produce
        for topic, key, value, headers, partition, timestamp_ms in outputs:
            produce(topic, value, key, partition, None, None, timestamp_ms, headers)
        left = self._waiting.make(partial(self._client.flush, FLUSH_S), while_waiting)
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

    def member(self, settings: kafka_settings.Settings) -> KafkaConsumer:
        self.consumers.append(CommittingConsumer(settings))
        return self.consumers[-1]

    def producer(self, transactional_id: str, *, batch_bytes_max: int = 1_000_000) -> PlainPublisher:  # type: ignore[override]
        plain = kafka_settings.plain_producer_settings(
            self.bootstrap_servers, self.client, delivery_s_max=DELIVERY_S_MAX
        )
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
    log = AtLeastOnceLog(place.bootstrap_servers, place.client)
    return run_worker(found.settings, name, slot, place, log=log)


if __name__ == "__main__":
    sys.exit(main())
