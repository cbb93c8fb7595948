"""Calls that ask Kafka for something: errors translated, retried while that may help, bounded in time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

from confluent_kafka import KafkaException

from stream.errors import LogTimeout
from stream.log.kafka.failures import log_error

T = TypeVar("T")
_PAUSE_S: Final = 0.05


def ask(what: str, timeout_s: float, call: Callable[[float], T]) -> T:
    """`call(seconds left)` until it answers; LogTimeout after `timeout_s`, LogError at once where waiting is vain."""
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return call(max(0.05, deadline - time.monotonic()))
        except KafkaException as raised:
            error = log_error(raised.args[0], what)
            if not isinstance(error, LogTimeout) or time.monotonic() + _PAUSE_S >= deadline:
                raise error from raised
        time.sleep(_PAUSE_S)
