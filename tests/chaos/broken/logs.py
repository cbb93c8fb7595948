"""Logs that break one rule each, around the real one."""

from __future__ import annotations

import re
import sys
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from stream.background_call import Meanwhile, nothing
from stream.exactly_once.offset_map import decode
from stream.log.base import (
    Assignor,
    GroupStamp,
    Log,
    LogAdmin,
    LogConsumer,
    LogProducer,
    LogReader,
    OffsetCommit,
    Outcome,
    Output,
    Partition,
    nowhere,
)
from stream.log.kafka.consumer import KafkaConsumer
from stream.log.kafka.log import KafkaLog, kafka_log
from stream.log.kafka.producer import KafkaProducer
from stream.log.kafka.settings import Settings
from stream.log.plain import DELIVERY_S_MAX, PlainProducer
from stream.process_context import ProcessContext

LOG_END_MAX = 2**62
#: What a client's group metadata holds: generation, group, member.
_MARK = b"CGMDv2:"

Twist = Callable[
    [Sequence[OffsetCommit], GroupStamp | None], tuple[Sequence[OffsetCommit], GroupStamp | None]
]


@dataclass(frozen=True, slots=True)
class TwistedProducer:
    """The real producer, but offsets and stamp are changed on the way."""

    real: LogProducer
    twist: Twist

    @property
    def lives(self) -> int:
        return self.real.lives

    def start(self, timeout_s: float) -> None:
        self.real.start(timeout_s)

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
        twisted, stamp = self.twist(offsets, group)
        return self.real.publish(
            outputs,
            twisted,
            stamp,
            attribute=attribute,
            reach=reach,
            while_waiting=while_waiting,
            life=life,
        )

    def is_fenced(self, group: GroupStamp) -> bool:
        return self.real.is_fenced(group)

    def close(self) -> None:
        self.real.close()


@dataclass(frozen=True, slots=True)
class TwistedLog:
    """A `Log` whose transactional producers are twisted; all else is real."""

    real: Log
    twist: Twist

    def consumer(
        self,
        group: str,
        instance_id: str | None = None,
        *,
        assignor: Assignor = "range",
        regex_refresh_ms: int = 3_000,
    ) -> LogConsumer:
        return self.real.consumer(group, instance_id, assignor=assignor, regex_refresh_ms=regex_refresh_ms)

    def producer(self, transactional_id: str, *, batch_bytes_max: int = 1_000_000) -> LogProducer:
        return TwistedProducer(
            self.real.producer(transactional_id, batch_bytes_max=batch_bytes_max), self.twist
        )

    def admin(self) -> LogAdmin:
        return self.real.admin()

    def plain_producer(self, delivery_s_max: float = DELIVERY_S_MAX) -> PlainProducer:
        return self.real.plain_producer(delivery_s_max)

    def reader(self, begin: Sequence[str] | Mapping[Partition, int], *, careful: bool = False) -> LogReader:
        return self.real.reader(begin, careful=careful)


@dataclass(frozen=True, slots=True)
class UnfencedLog(KafkaLog):
    """Random transactional ids, and offsets read without waiting for open transactions (traps 5 and 6)."""

    def member(self, settings: Settings) -> KafkaConsumer:
        return KafkaConsumer({**settings, "isolation.level": "read_uncommitted"})

    def producer(self, transactional_id: str, *, batch_bytes_max: int = 1_000_000) -> KafkaProducer:
        return KafkaLog.producer(self, uuid.uuid4().hex, batch_bytes_max=batch_bytes_max)


def drop_map(
    offsets: Sequence[OffsetCommit], group: GroupStamp | None
) -> tuple[Sequence[OffsetCommit], GroupStamp | None]:
    """Only the contiguous watermark: what is done above it runs, and is published, again."""
    return [offset._replace(metadata="") for offset in offsets], group


def commit_highest(
    offsets: Sequence[OffsetCommit], group: GroupStamp | None
) -> tuple[Sequence[OffsetCommit], GroupStamp | None]:
    """The highest offset done: what is unfinished below it is lost in a crash."""
    tops = [decode(offset.metadata, offset.offset, LOG_END_MAX).hi + 1 for offset in offsets]
    return [
        o._replace(offset=max(o.offset, top), metadata="") for o, top in zip(offsets, tops, strict=True)
    ], group


def ignore_generation(
    offsets: Sequence[OffsetCommit], group: GroupStamp | None
) -> tuple[Sequence[OffsetCommit], GroupStamp | None]:
    """Nobody's stamp: the classic broker then checks nothing, and a zombie's offsets pass."""
    return offsets, None if group is None else replace_stamp(group)


def replace_stamp(group: GroupStamp) -> GroupStamp:
    """Generation -1, no member, no instance, in the client's own form; it claims to be valid."""
    assert isinstance(group.native, bytes)
    name = re.match(_MARK + rb".{4}([^\0]*)\0", group.native, re.DOTALL)
    assert name is not None, f"unknown group metadata {group.native!r}"
    forged = _MARK + (-1).to_bytes(4, sys.byteorder, signed=True) + name[1] + b"\0\0\1"
    return GroupStamp(0, "forged", forged)


def broken_log(how: str, place: ProcessContext) -> Log:
    """`how` is a key of TWISTS, or `unfenced`."""
    if how == "unfenced":
        return UnfencedLog(place.bootstrap_servers, place.client)
    return TwistedLog(kafka_log(place), TWISTS[how])


TWISTS: Mapping[str, Twist] = {
    "drop_map": drop_map,
    "commit_highest": commit_highest,
    "ignore_generation": ignore_generation,
}
