"""The group consumer of the log in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from stream.errors import LogError, LogTimeout, MemberFenced
from stream.log.base import (
    AssignmentListener,
    Assignor,
    Committed,
    GroupStamp,
    Partition,
    Polled,
    Watermarks,
)
from stream.log.memory.broker import MemoryBroker
from stream.log.memory.cursor import MemoryCursor
from stream.log.memory.group import Member, MemoryGroup
from stream.log.memory.producer import NativeStamp


class MemoryConsumer:
    """A `LogConsumer`. Callbacks run in `poll` without the lock."""

    def __init__(self, broker: MemoryBroker, group: str, instance_id: str | None, assignor: Assignor) -> None:
        self._broker: Final = broker
        self._name: Final = group
        self._group: Final[MemoryGroup] = broker.group(group)
        self._member = Member("", instance_id, (), assignor)
        self._listener: AssignmentListener | None = None
        self._cursor = MemoryCursor(broker, resets=False)
        self._crash: BaseException | None = None
        self._closed = False

    def subscribe(self, topics: Sequence[str], listener: AssignmentListener) -> None:
        self._listener = listener
        with self._broker.changed:
            self._member.topics = tuple(topics)
            self._group.join(self._member)
            self._broker.changed.notify_all()

    def poll(self, records_max: int, timeout_s: float) -> Polled:
        deadline = self._broker.clock() + timeout_s
        while True:
            self._serve()
            with self._broker.changed:
                polled = self._cursor.fetch(records_max)
                left = deadline - self._broker.clock()
                if any(polled) or left <= 0:
                    return polled
                if not self._callback_due():
                    self._broker.changed.wait(min(left, 0.05))

    def pause(self, partitions: Sequence[Partition]) -> None:
        self._cursor.paused.update(partitions)

    def resume(self, partitions: Sequence[Partition]) -> None:
        self._cursor.paused.difference_update(partitions)

    def seek(self, partition: Partition, offset: int) -> None:
        if partition not in self._cursor.positions:
            raise LogError(f"seek {partition}: not assigned")
        self._cursor.move(partition, offset)

    def group(self) -> GroupStamp:
        member = self._member
        return GroupStamp(member.generation, member.id, NativeStamp(self._name, member.generation, member.id))

    def committed(
        self, partitions: Sequence[Partition], timeout_s: float
    ) -> Mapping[Partition, Committed | None]:
        deadline = self._broker.clock() + timeout_s
        with self._broker.changed:
            while any(self._group.unstable(partition) for partition in partitions):
                left = deadline - self._broker.clock()
                if left <= 0:
                    raise LogTimeout(f"committed offsets of {self._name}: a transaction on them is open")
                self._broker.changed.wait(min(left, 0.05))
            return {partition: self._group.committed.get(partition) for partition in partitions}

    def watermarks(self, partition: Partition, timeout_s: float) -> Watermarks:  # noqa: ARG002
        """`high` is the last stable offset: where this reader stops."""
        with self._broker.changed:
            found = self._broker.partition(partition)
            if found is None:
                raise LogError(f"watermarks of {partition}: no such partition")
            return Watermarks(found.low, found.stable)

    def close(self) -> None:
        """A static member sends no leave: its partitions move when its session has timed out."""
        if self._closed:
            return
        self._closed = True
        if self._listener is not None and self._crash is None and not self._member.fenced:
            self._drop(list(self._cursor.positions), self._listener.revoked)
        self._depart()
        if self._crash is not None:
            raise self._crash

    def kill(self) -> None:
        """For tests: the process is gone, nobody was told; the session timeout will show it."""
        self._closed = True
        with self._broker.changed:
            self._member.gone_since = self._broker.clock()

    def lose(self) -> None:
        """For tests: the session timed out while this client was stalled; it learns so at its next poll."""
        with self._broker.changed:
            self._group.remove(self._member)
            # The real client forgets its member id at once, and tells of the loss at a later poll.
            self._member.id = ""
            self._broker.changed.notify_all()

    def _depart(self) -> None:
        with self._broker.changed:
            if self._member.instance_id is None:
                self._group.remove(self._member)
            else:
                self._member.gone_since = self._broker.clock()
            self._broker.changed.notify_all()

    def _serve(self) -> None:
        """Run the callbacks that are due; what they raise comes out, now and at every later poll."""
        if self._closed:
            raise LogError("the consumer is closed")
        if self._crash is not None:
            raise self._crash
        if self._member.fenced:
            raise MemberFenced(f"another process is member {self._member.instance_id} of {self._name}")
        if self._listener is None:
            return
        try:
            self._serve_rebalance(self._listener)
        except BaseException as error:
            self._crash = error
            self._cursor.positions.clear()
            raise

    def _serve_rebalance(self, listener: AssignmentListener) -> None:
        member = self._member
        if member.id not in self._group.members:
            self._drop(list(self._cursor.positions), listener.lost)
            with self._broker.changed:
                member.generation = -1
                self._group.join(member)
        self._join_round(listener)
        with self._broker.changed:
            self._group.tick(self._broker.clock(), self._broker.counts())
            due = not self._group.rebalancing and member.generation != self._group.generation
            if due:
                member.generation = self._group.generation
                self._broker.changed.notify_all()
        if due:
            self._take(listener)

    def _join_round(self, listener: AssignmentListener) -> None:
        with self._broker.changed:
            self._group.tick(self._broker.clock(), self._broker.counts())
            due = self._group.rebalancing and not self._member.joined
        if not due:
            return
        if self._cursor.positions:
            self._drop(list(self._cursor.positions), listener.revoked)
        with self._broker.changed:
            self._member.joined = True
            self._broker.changed.notify_all()

    def _take(self, listener: AssignmentListener) -> None:
        """All that the generation gives; what was owned before was given up when the round began."""
        given = self._member.given
        begin = listener.assigned(given)
        if missing := [part for part in given if part not in begin]:
            raise LogError(f"no offset to read on from for {missing}")
        with self._broker.changed:
            for part in given:
                self._cursor.move(part, begin[part])

    def _drop(self, gone: list[Partition], tell: Callable[[Sequence[Partition]], None]) -> None:
        if gone:
            tell(gone)
        with self._broker.changed:
            for part in gone:
                self._cursor.positions.pop(part, None)

    def _callback_due(self) -> bool:
        group, member = self._group, self._member
        if self._listener is None:
            return False
        if member.fenced or member.id not in group.members or (group.rebalancing and not member.joined):
            return True
        return not group.rebalancing and member.generation != group.generation
