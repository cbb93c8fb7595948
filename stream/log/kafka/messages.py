"""Splits a fetched batch into records and end-of-partition events; other errors are raised or logged."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from confluent_kafka import KafkaError, Message

from stream.log.base import EndOfPartition, Partition, Polled
from stream.log.kafka.failures import cause, consumer_failure
from stream.log.kafka.headers import asked_once
from stream.log.stuck import Stuck

_LOG = logging.getLogger(__name__)

NOTHING: Final = Polled((), ())


def sort_messages(batch: Sequence[Message], group: str | None = None) -> Polled:
    """Of a member of `group`, or of nobody. LogError, LogFenced for an error event that librdkafka does not recover from."""
    records = [message for message in batch if message.error() is None]
    if len(records) == len(batch):
        return Polled(asked_once(records), ())
    return _sorted(batch, group)


def _sorted(batch: Sequence[Message], group: str | None) -> Polled:
    records: list[Message] = []
    ends: list[EndOfPartition] = []
    overtaken: list[Partition] = []
    stuck: dict[tuple[str, int], Stuck] = {}
    for message in batch:
        place = (message.topic(), message.partition())
        if place in stuck:
            continue
        error = message.error()
        if error is None:
            records.append(message)
        elif error.code() == KafkaError._PARTITION_EOF:
            ends.append(EndOfPartition(*place, message.offset()))
        elif error.code() == KafkaError._AUTO_OFFSET_RESET:
            overtaken.append(Partition(*place))
        elif (found := _stuck(message, error, group)) is not None:
            stuck[place] = found
    return Polled(asked_once(records), ends, overtaken, list(stuck.values()))


def _stuck(message: Message, error: KafkaError, group: str | None) -> Stuck | None:
    """Whatever names a partition: nobody may wait for it unseen. None: of no partition, and librdkafka recovers."""
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    if (failure := consumer_failure(error, topic, group)) is not None:
        raise failure
    if topic is None or partition is None or partition < 0:
        _LOG.warning("consumer: %s (%s)", error.str(), error.name())
        return None
    return Stuck(topic, partition, -1 if offset is None else offset, cause(error), error.str())
