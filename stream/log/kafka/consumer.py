"""The group consumer over confluent-kafka: explicit offsets at every assignment, errors of callbacks out of `poll`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from stream.errors import ClientSilent, LogError, LogTimeout
from stream.log.base import (
    AssignmentListener,
    Committed,
    GroupStamp,
    Partition,
    Polled,
    Watermarks,
)
from stream.log.kafka.calls import ask
from stream.log.kafka.events import log_event
from stream.log.kafka.failures import log_error
from stream.log.kafka.messages import NOTHING, sort_messages
from stream.log.kafka.offsets import committed_by, offsets_of
from stream.log.kafka.settings import Settings
from stream.log.stamp import nobodys_stamp, parse_stamp

_LOG = logging.getLogger(__name__)
#: Committed offsets come at once where no transaction is open on them; after this another client asks.
OWN_TRY_S: Final = 5.0
#: Long, for a wrong verdict ends the process: the machine may be loaded.
SECOND_TRY_S: Final = 15.0
#: Seen after a broker was stopped twice in ten seconds: no answer for 70 s, and the group had lost the member meanwhile.
SILENT: Final = "the group's coordinator answers others but not this process: it has to be started again"
T = TypeVar("T")


class KafkaConsumer:
    """A `LogConsumer` of an eager group: an assignment is the whole of what is owned."""

    def __init__(self, settings: Settings) -> None:
        self._client = Consumer({**settings, "error_cb": log_event}, logger=_LOG)
        self._group: Final = str(settings["group.id"])
        #: Of a client that never joins.
        self._outsider: Final = {
            name: value for name, value in settings.items() if name != "group.instance.id"
        }
        self._owned: set[Partition] = set()
        #: Where they were assigned.
        self._begin: dict[Partition, int] = {}
        self._paused: set[Partition] = set()
        #: Partitions that a callback named since the first record of this poll.
        self._touched: set[Partition] = set()
        self._crash: BaseException | None = None
        self._closed = False

    def subscribe(self, topics: Sequence[str], listener: AssignmentListener) -> None:
        """The three callbacks are all given: without `on_lost`, lost partitions would reach `revoked`."""
        self._client.subscribe(
            list(topics),
            on_assign=self._guarded(lambda named: self._assign(named, listener)),
            on_revoke=self._guarded(lambda named: self._drop(named, listener.revoked)),
            on_lost=self._guarded(lambda named: self._drop(named, listener.lost)),
        )

    def poll(self, records_max: int, timeout_s: float) -> Polled:
        first = self._served(lambda: self._client.poll(timeout_s))
        if first is None:
            return NOTHING
        self._touched.clear()
        batch: list[Message] = (
            self._served(lambda: self._client.consume(records_max - 1, 0)) if records_max > 1 else []
        )
        # A callback served by consume makes the record before it stale; librdkafka drops its own, not this one.
        if not self._touched or Partition(first.topic(), first.partition()) not in self._touched:
            batch.insert(0, first)
        return sort_messages(batch, self._group)

    def pause(self, partitions: Sequence[Partition]) -> None:
        self._paused.update(partitions)
        self._client.pause(_positions(self._owned.intersection(partitions)))

    def resume(self, partitions: Sequence[Partition]) -> None:
        self._paused.difference_update(partitions)
        self._client.resume(_positions(self._owned.intersection(partitions)))

    def seek(self, partition: Partition, offset: int) -> None:
        try:
            self._client.seek(TopicPartition(partition.topic, partition.partition, offset))
        except KafkaException as raised:
            if raised.args[0].code() != KafkaError._STATE or partition not in self._owned:
                raise log_error(raised.args[0], f"seek {partition}") from raised
            self._assign_anew(partition, offset)
        else:
            self._begin[partition] = offset

    def group(self) -> GroupStamp:
        try:
            native = self._client.consumer_group_metadata()
        except RuntimeError:  # closed, or about to be: seen inside the last revoke of a close
            native = nobodys_stamp(self._group)
        generation, member_id = parse_stamp(native)
        return GroupStamp(generation, member_id, native)

    def committed(
        self, partitions: Sequence[Partition], timeout_s: float
    ) -> Mapping[Partition, Committed | None]:
        """ClientSilent: ours has no answer, though another one's question was answered: the process must end."""
        if self._closed:
            # librdkafka says _WAIT_COORD to a member that leaves: inside the last revoke another client's answer counts.
            return offsets_of(self._outsider, self._group, partitions, timeout_s, stable=True)
        own_s = min(OWN_TRY_S, timeout_s / 2)
        try:
            return committed_by(self._client, "committed offsets", partitions, own_s)
        except LogTimeout:
            # It may be an open transaction on them. Then another client has no answer either, and LogTimeout comes out.
            offsets_of(self._outsider, self._group, partitions, timeout_s - own_s, stable=True)
        try:
            return committed_by(self._client, "committed offsets", partitions, SECOND_TRY_S)
        except LogTimeout as silent:
            raise ClientSilent(SILENT) from silent

    def watermarks(self, partition: Partition, timeout_s: float) -> Watermarks:
        """`high` is the last stable offset: where this reader stops."""
        asked = TopicPartition(*partition)
        low, high = ask(
            f"watermarks of {partition}",
            timeout_s,
            lambda left: self._client.get_watermark_offsets(asked, left),
        )
        return Watermarks(low, high)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._served(self._client.close)

    def _served(self, call: Callable[[], T]) -> T:
        """What a callback raised comes out here, and again at every later call: the process must end."""
        try:
            result = call()
        except KafkaException as raised:
            raise log_error(raised.args[0], "poll") from raised
        if self._crash is not None:
            raise self._crash
        return result

    def _guarded(
        self, change: Callable[[list[Partition]], None]
    ) -> Callable[[Consumer, list[TopicPartition]], None]:
        def callback(_client: Consumer, positions: list[TopicPartition]) -> None:
            named = [Partition(position.topic, position.partition) for position in positions]
            self._touched.update(named)
            try:
                change(named)
            except BaseException as error:
                self._crash = error
                # Else the binding assigns by itself, at the committed offset, and records flow without a ledger.
                self._assign_nothing()

        return callback

    def _assign(self, named: list[Partition], listener: AssignmentListener) -> None:
        begin = listener.assigned(named)
        if missing := [partition for partition in named if partition not in begin]:
            raise LogError(f"no offset to read on from for {missing}")
        self._begin = {partition: begin[partition] for partition in named}
        self._owned = set(named)
        self._assign_at(self._begin)

    def _assign_anew(self, partition: Partition, offset: int) -> None:
        """librdkafka 2.16 has stopped a partition whose offset is out of range, and takes no seek for it (seen)."""
        at = {
            Partition(p.topic, p.partition): p.offset for p in self._client.position(_positions(self._owned))
        }
        begin = {owned: at[owned] if at[owned] >= 0 else self._begin[owned] for owned in self._owned}
        self._begin = {**begin, partition: offset}
        self._assign_at(self._begin)

    def _assign_at(self, begin: Mapping[Partition, int]) -> None:
        self._client.assign([TopicPartition(*partition, offset) for partition, offset in begin.items()])
        # librdkafka 2.16 keeps a partition's pause while somebody else owns it, and takes no resume for it meanwhile
        # (seen: a dispatcher that read nothing any more); other versions forget it. Our wish is what counts.
        self._client.pause(_positions(self._paused.intersection(begin)))
        self._client.resume(_positions(begin.keys() - self._paused))

    def _drop(self, named: list[Partition], tell: Callable[[Sequence[Partition]], None]) -> None:
        """The binding takes them away after this callback."""
        try:
            tell(named)
        finally:
            self._owned.difference_update(named)

    def _assign_nothing(self) -> None:
        try:
            self._client.unassign()
        except KafkaException:
            _LOG.exception("could not drop the assignment")


def _positions(partitions: Iterable[Partition]) -> list[TopicPartition]:
    return [TopicPartition(topic, partition) for topic, partition in partitions]
