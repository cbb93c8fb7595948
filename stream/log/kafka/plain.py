"""The plain producer: idempotent, without transactions."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from stream.errors import LogError, LogTimeout
from stream.log.base import Output
from stream.log.kafka.events import log_event
from stream.log.kafka.failures import delivery_reason
from stream.log.kafka.settings import Settings
from stream.log.plain import Delivery

_LOG = logging.getLogger(__name__)
#: The longest a full buffer may make `send` wait.
ROOM_S_MAX: Final = 30.0
#: Callbacks are served every so many records, not at each.
_SERVE_EVERY: Final = 256


class KafkaPlainProducer:
    """A `PlainProducer` over confluent-kafka."""

    def __init__(self, settings: Settings) -> None:
        self._client = Producer({**settings, "error_cb": log_event}, logger=_LOG)
        self._sent = 0

    def send(self, output: Output, on_delivery: Callable[[Delivery], None] | None = None) -> None:
        topic, key, value, headers, partition, timestamp_ms = output
        report = None if on_delivery is None else partial(_report, on_delivery)
        produce = partial(
            self._client.produce, topic, value, key, partition, report, None, timestamp_ms, headers
        )
        try:
            self._when_room(produce)
        except KafkaException as error:
            raise LogError(f"{topic}: {error.args[0].str()}") from error
        self._sent += 1
        if self._sent % _SERVE_EVERY == 0:
            self._client.poll(0)

    def flush(self, timeout_s: float) -> int:
        left: int = self._client.flush(timeout_s)
        return left

    def close(self) -> None:
        self._client.purge()
        self._client.close()

    def _when_room(self, produce: Callable[[], object]) -> None:
        deadline = time.monotonic() + ROOM_S_MAX
        while time.monotonic() < deadline:
            try:
                produce()
            except BufferError:
                self._client.poll(0.1)
            else:
                return
        raise LogTimeout(f"the buffer stayed full for {ROOM_S_MAX:.0f} s")


def _report(on_delivery: Callable[[Delivery], None], error: KafkaError | None, message: Message) -> None:
    reason = None if error is None else delivery_reason(error)
    offset = -1 if message.offset() is None or error is not None else message.offset()
    partition = -1 if message.partition() is None else message.partition()
    on_delivery(Delivery(message.topic(), partition, offset, reason))
