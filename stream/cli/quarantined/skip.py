"""Going on after offsets that a group cannot read: each record that a careful reader can has a dead letter, once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from stream.cli.quarantined.careful import Chunk, probe, read_carefully
from stream.cli.quarantined.partitions import group_of
from stream.cli.quarantined.skipped_letters import SkippedLetters
from stream.cli.quarantined.sole_owner import SoleOwner
from stream.config.settings import Settings
from stream.errors import LogError, LogFenced, UsageError
from stream.exactly_once.offset_map import OffsetMap, decode, encode
from stream.exactly_once.skipped_map import passed
from stream.log.base import (
    Aborted,
    Assignor,
    Fenced,
    Log,
    LogConsumer,
    LogProducer,
    OffsetCommit,
    Output,
    Partition,
    Success,
    Unknown,
    nowhere,
)

ASK_S: Final = 30.0
TRIES_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class Skipped:
    """What became of the offsets that were named."""

    group: str
    dead_letters: int
    #: Offsets that nobody can read: nobody knows how many records they were.
    unread: int


def skip(
    log: Log,
    settings: Settings,
    place: Partition,
    first: int,
    last: int,
    *,
    reach: Callable[[str], None] = nowhere,
) -> Skipped:
    """UsageError, and nothing is done, where these offsets can be read or are done. Begun anew it goes on where it was.

    A transaction for each few records: their dead letters with the group's offset, and a map in which they are done.
    """
    admin = log.admin()
    group = group_of(admin, settings, place)
    _check(log, place, first, last)
    letters = SkippedLetters(settings, admin, group)
    assignor: Assignor = "roundrobin" if group == settings.dispatcher_group else "range"
    owner = SoleOwner(log, group, assignor, place)
    producer = log.producer(settings.own_topic("replay.quarantine"))
    with closing(owner), closing(producer):
        producer.start(ASK_S)
        job = _Job(settings, producer, owner, letters, place, reach)
        job.check(first, last)
        written = unread = 0
        at = first
        for chunk in read_carefully(log, place, first, last, settings.limits.txn_bytes_max // 2):
            written += job.publish(chunk, at)
            unread += chunk.unread
            at = chunk.next_offset
    return Skipped(group, written, unread)


def _check(log: Log, place: Partition, first: int, last: int) -> None:
    admin = log.admin()
    low, end = admin.watermarks([place], ASK_S)[place].low, admin.stable_ends([place], ASK_S)[place]
    name = f"{place.topic}/{place.partition}"
    if not low <= first <= last < end:
        raise UsageError(f"{name} has the offsets {low} to {end - 1}, not {first} to {last}")
    if probe(log, place, first) is None:
        raise UsageError(f"{name} can be read at offset {first}: there is nothing to skip")


@dataclass(slots=True)
class _Job:
    """One skip under way."""

    _settings: Settings
    _producer: LogProducer
    _owner: SoleOwner
    _letters: SkippedLetters
    _place: Partition
    _reach: Callable[[str], None]

    def check(self, first: int, last: int) -> None:
        """What the group has done lets these offsets be passed."""
        found = self._committed(self._owner.hold())
        name = f"{self._place.topic}/{self._place.partition}"
        if found.says_done(first):
            raise UsageError(f"{name}: offset {first} is done already; it stands at {found.base}")
        self._after(found, first, last)

    def publish(self, chunk: Chunk, first: int) -> int:
        """How many dead letters it made. Asks anew what is done before each try: its outcome may have been unknown."""
        last, written, cause = chunk.next_offset - 1, 0, ""
        for _ in range(TRIES_MAX):
            consumer = self._owner.hold()
            found = self._committed(consumer)
            if all(found.says_done(offset) for offset in range(first, last + 1)):
                return written
            outputs: list[Output] = [
                self._letters.write(record)
                for record in chunk.records
                if not found.says_done(record.offset())
            ]
            after = self._after(found, first, last)
            commit = OffsetCommit(*self._place, after.base, encode(after))
            outcome = self._producer.publish(outputs, [commit], consumer.group(), reach=self._reach)
            if isinstance(outcome, Success):
                return len(outputs)
            self._recover(outcome)
            cause, written = outcome.cause, len(outputs)
        raise LogError(f"offsets {first} to {last} could not be passed: {cause}")

    def _recover(self, outcome: Aborted | Unknown | Fenced) -> None:
        if isinstance(outcome, Fenced):
            raise LogFenced("another `headrace quarantine` runs")
        if isinstance(outcome, Unknown):
            self._producer.start(ASK_S)

    def _committed(self, consumer: LogConsumer) -> OffsetMap:
        found = consumer.committed([self._place], ASK_S)[self._place]
        low, high = consumer.watermarks(self._place, ASK_S)
        return OffsetMap.empty(low) if found is None else decode(found.metadata, found.offset, high)

    def _after(self, found: OffsetMap, first: int, last: int) -> OffsetMap:
        """A dispatcher's offsets go on in order: nothing above its base is ever done."""
        after = passed(found, first, last)
        inputs = self._letters.group == self._settings.dispatcher_group
        if inputs and after.hi >= after.base:
            raise UsageError(f"it stands at {found.base}: skip from there on, {found.base}-{last}")
        return after
