"""A consumer group in memory: the classic protocol's rounds, generations, static members, offsets in transactions.

A round begins when members or topics change. Each member gives up all it has and joins it at its next poll; when
all have joined, the generation rises and each takes its assignment at its next poll.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from stream.log.base import Assignor, Committed, Partition
from stream.log.memory.assign import Assignment, assign_range, assign_round_robin
from stream.log.memory.partition import MemoryTransaction


@dataclass(slots=True, eq=False)
class Member:
    """One member as the broker and its client see it."""

    id: str
    instance_id: str | None
    topics: tuple[str, ...]
    assignor: Assignor
    #: Has joined the round that is under way.
    joined: bool = False
    #: The generation its client knows.
    generation: int = -1
    #: What the generation gives it.
    given: list[Partition] = field(default_factory=list)
    #: Since when nobody answers for it (closed or killed static members); None: alive.
    gone_since: float | None = None
    #: Its instance id was taken over by another process.
    fenced: bool = False

    @property
    def name(self) -> str:
        """What assignors sort by."""
        return self.instance_id or self.id


class MemoryGroup:
    """Members, generation and committed offsets of one group id."""

    def __init__(self, session_timeout_s: float) -> None:
        self.generation = 0
        self.rebalancing = False
        self.members: dict[str, Member] = {}
        self.committed: dict[Partition, Committed] = {}
        #: Offsets of open transactions: not stable yet.
        self.pending: dict[MemoryTransaction, dict[Partition, Committed]] = {}
        self._session_timeout_s: Final = session_timeout_s
        self._topics: dict[str, int] = {}
        self._joins = 0

    def join(self, member: Member) -> None:
        """A new member; one with a known instance id takes the old one's place, in a stable group without a round."""
        self._joins += 1
        member.id = f"{member.name}-{self._joins}"
        old = next((held for held in self.members.values() if _same_instance(held, member)), None)
        if old is not None:
            old.fenced = True
            del self.members[old.id]
        self.members[member.id] = member
        if old is not None and not self.rebalancing and old.topics == member.topics:
            member.given = list(old.given)
            return
        self.begin_round()

    def remove(self, member: Member) -> None:
        """It left, or its session timed out."""
        if self.members.pop(member.id, None) is not None:
            self.begin_round()

    def begin_round(self) -> None:
        self.rebalancing = True
        for member in self.members.values():
            member.joined = False

    def tick(self, now: float, topics: Mapping[str, int]) -> None:
        """Drop members whose session timed out, notice new topics, end a round that all have joined."""
        for member in list(self.members.values()):
            if member.gone_since is not None and now - member.gone_since >= self._session_timeout_s:
                self.remove(member)
        if not self.rebalancing and self._wanted(topics) != self._topics:
            self.begin_round()
        if self.rebalancing and all(member.joined for member in self.members.values()):
            self._end_round(topics)

    def refuses(self, generation: int, member_id: str) -> str | None:
        """Why offsets of this stamp are not taken, as the classic broker says it; None: they are."""
        if member_id not in self.members:
            return "unknown_member_id"
        return None if generation == self.generation else "illegal_generation"

    def stage(self, transaction: MemoryTransaction, offsets: Mapping[Partition, Committed]) -> None:
        self.pending.setdefault(transaction, {}).update(offsets)

    def settle(self, transaction: MemoryTransaction, *, commit: bool) -> None:
        offsets = self.pending.pop(transaction, {})
        if commit:
            self.committed.update(offsets)

    def unstable(self, partition: Partition) -> bool:
        return any(partition in offsets for offsets in self.pending.values())

    def _wanted(self, topics: Mapping[str, int]) -> dict[str, int]:
        return {
            topic: count
            for topic, count in topics.items()
            if any(matches(topic, member.topics) for member in self.members.values())
        }

    def _end_round(self, topics: Mapping[str, int]) -> None:
        self.generation += 1
        self.rebalancing = False
        self._topics = self._wanted(topics)
        assignment = self._assignment()
        for member in self.members.values():
            member.given = assignment[member.name]

    def _assignment(self) -> Assignment:
        wants = {
            member.name: frozenset(topic for topic in self._topics if matches(topic, member.topics))
            for member in self.members.values()
        }
        if any(member.assignor == "range" for member in self.members.values()):
            return assign_range(self._topics, wants)
        return assign_round_robin(self._topics, wants)


def matches(topic: str, patterns: tuple[str, ...]) -> bool:
    """A name, or a regex that begins with ^."""
    return any(
        re.match(pattern, topic) if pattern.startswith("^") else pattern == topic for pattern in patterns
    )


def _same_instance(one: Member, other: Member) -> bool:
    return one.instance_id is not None and one.instance_id == other.instance_id


#: Reads the time of sessions, in seconds.
Clock = Callable[[], float]
