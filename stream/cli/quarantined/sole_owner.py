"""Owning one partition of a group for a moment: nobody else can commit it meanwhile.

A live role commits what it owns whenever it likes. Whoever reads a partition's map and writes another in its place must
therefore own it: the generation in which we do fences what its last owner may still have under way, and gives it nothing
new to commit. Assignors do not let themselves be asked for a partition, so more and more members of ours join until one
of them has it. All pause at once what they are given, and leave it to the others when they are closed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Final

from stream.errors import LogTimeout
from stream.log.base import Assignor, Log, LogConsumer, Partition

CLAIM_S: Final = 60.0
POLL_S: Final = 0.05
#: With as many members as a topic has partitions each has one at most; beyond this an operator stops the roles first.
MEMBERS_MAX: Final = 32


class _Member:
    """Joins and reads nothing."""

    def __init__(self, consumer: LogConsumer) -> None:
        self.consumer = consumer
        self.owned: set[Partition] = set()
        #: It has what its generation gives it.
        self.settled = False

    def assigned(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        self.consumer.pause(partitions)
        self.owned, self.settled = set(partitions), True
        return dict.fromkeys(partitions, 0)

    def revoked(self, partitions: Sequence[Partition]) -> None:
        self.owned.difference_update(partitions)
        self.settled = False

    def lost(self, partitions: Sequence[Partition]) -> None:
        self.revoked(partitions)

    @property
    def ready(self) -> bool:
        return self.settled and self.consumer.group().valid


class SoleOwner:
    """Close it: the others wait for their partitions."""

    def __init__(self, log: Log, group: str, assignor: Assignor, place: Partition) -> None:
        self._log = log
        self._group = group
        self._assignor: Assignor = assignor
        self._place = place
        self._members: list[_Member] = []

    def hold(self) -> LogConsumer:
        """The member that owns the partition now; its stamp is good until the next call. LogTimeout: none could get it."""
        until_s = time.monotonic() + CLAIM_S
        while time.monotonic() < until_s:
            for member in self._members:
                member.consumer.poll(1, POLL_S)
            for member in self._members:
                if member.ready and self._place in member.owned:
                    return member.consumer
            if all(member.ready for member in self._members):
                self._grow()
        name = f"{self._place.topic}/{self._place.partition}"
        raise LogTimeout(
            f"{self._group} did not give {name} to this command in {CLAIM_S:.0f} s: stop its roles first"
        )

    def close(self) -> None:
        for member in self._members:
            member.consumer.close()

    def _grow(self) -> None:
        """Twice as many."""
        for _ in range(min(max(1, len(self._members)), MEMBERS_MAX - len(self._members))):
            member = _Member(self._log.consumer(self._group, assignor=self._assignor))
            self._members.append(member)
            member.consumer.subscribe([self._place.topic], member)
