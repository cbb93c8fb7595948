"""Splits a fetched batch into records and end-of-partition events; other errors are raised or logged."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from confluent_kafka import KafkaError, Message

from stream.log.base import EndOfPartition, Partition, Polled
from stream.log.kafka_failures import consumer_failure
from stream.log.kafka_headers import asked_once

_LOG = logging.getLogger(__name__)

NOTHING: Final = Polled((), ())


def sort_messages(batch: Sequence[Message], group: str | None = None) -> Polled:
    """Of a member of `group`, or of nobody. LogError, LogFenced for an error event that librdkafka does not recover from."""
    records = [message for message in batch if message.error() is None]
    if len(records) == len(batch):
        return Polled(asked_once(records), ())
    overtaken = [message for message in batch if _is_overtaken(message)]
    ends = [
        end for message in batch if message not in overtaken and (end := _event(message, group)) is not None
    ]
    return Polled(asked_once(records), ends, [Partition(m.topic(), m.partition()) for m in overtaken])


def _is_overtaken(message: Message) -> bool:
    error: KafkaError | None = message.error()
    return error is not None and error.code() == KafkaError._AUTO_OFFSET_RESET


def _event(message: Message, group: str | None) -> EndOfPartition | None:
    error: KafkaError | None = message.error()
    if error is None:
        return None
    if error.code() == KafkaError._PARTITION_EOF:
        return EndOfPartition(message.topic(), message.partition(), message.offset())
    if (failure := consumer_failure(error, message.topic(), group)) is not None:
        raise failure
    _LOG.warning("consumer: %s (%s)", error.str(), error.name())
    return None
