"""A groupless read_committed reader over confluent-kafka."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from confluent_kafka import Consumer, KafkaException, TopicPartition

from stream.errors import LogError, LogTimeout
from stream.log.base import LogAdmin, Partition, Polled, Record
from stream.log.kafka.calls import ask
from stream.log.kafka.events import log_event
from stream.log.kafka.failures import log_error
from stream.log.kafka.messages import NOTHING, sort_messages
from stream.log.kafka.settings import Settings

_LOG = logging.getLogger(__name__)
LOOK_UP_S_MAX: Final = 30.0
_BATCH_RECORDS: Final = 1_000
_WAIT_S: Final = 0.2
_BEGINNING: Final = -2


class KafkaReader:
    """A `LogReader`; `admin` tells the last stable offsets."""

    def __init__(
        self, settings: Settings, admin: LogAdmin, begin: Sequence[str] | Mapping[Partition, int]
    ) -> None:
        self._client = Consumer({**settings, "error_cb": log_event}, logger=_LOG)
        self._admin = admin
        #: The next offset of each partition, as far as it is known.
        self._next: dict[Partition, int] = dict(begin) if isinstance(begin, Mapping) else self._look_up(begin)
        #: Read beyond the end that `to_end` was asked for; the next call's.
        self._ahead: deque[Record] = deque()
        self._client.assign([TopicPartition(*partition, offset) for partition, offset in self._next.items()])

    def poll(self, records_max: int, timeout_s: float) -> Polled:
        if self._ahead:
            return Polled([self._ahead.popleft() for _ in range(min(records_max, len(self._ahead)))], ())
        return self._fetch(records_max, timeout_s)

    def to_end(self, timeout_s: float) -> Iterator[Record]:
        ends = self._admin.stable_ends(list(self._next), timeout_s)
        held, self._ahead = self._ahead, deque()
        yield from self._below(held, ends)
        quiet_until = time.monotonic() + timeout_s
        while any(self._next[partition] < end for partition, end in ends.items()):
            before = dict(self._next)
            polled = self._fetch(_BATCH_RECORDS, _WAIT_S)
            yield from self._below(polled.records, ends)
            if polled.stuck:
                raise LogError(str(polled.stuck[0]))
            if self._next != before:
                quiet_until = time.monotonic() + timeout_s
            elif time.monotonic() >= quiet_until:
                raise LogTimeout(f"no progress in {timeout_s:.0f} s before the end of {sorted(ends)}")

    def close(self) -> None:
        self._client.close()

    def _below(
        self, records: Sequence[Record] | deque[Record], ends: Mapping[Partition, int]
    ) -> Iterator[Record]:
        for record in records:
            if record.offset() < ends[Partition(record.topic(), record.partition())]:
                yield record
            else:
                self._ahead.append(record)

    def _fetch(self, records_max: int, timeout_s: float) -> Polled:
        try:
            first = self._client.poll(timeout_s)
            if first is None:
                return NOTHING
            rest = self._client.consume(records_max - 1, 0) if records_max > 1 else []
        except KafkaException as raised:
            raise log_error(raised.args[0], "read") from raised
        polled = sort_messages([first, *rest])
        for record in polled.records:
            self._next[Partition(record.topic(), record.partition())] = record.offset() + 1
        for topic, partition, offset in polled.ends:
            self._next[Partition(topic, partition)] = offset
        return polled

    def _look_up(self, topics: Sequence[str]) -> dict[Partition, int]:
        begin = {}
        for name in topics:
            found = ask(f"look up {name}", LOOK_UP_S_MAX, partial(self._client.list_topics, name))
            topic = found.topics[name]
            if topic.error is not None:
                raise LogError(f"no topic {name!r}: {topic.error.str()}")
            begin.update({Partition(name, number): _BEGINNING for number in topic.partitions})
        return begin
