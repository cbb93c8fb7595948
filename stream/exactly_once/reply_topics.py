"""What is known of the foreign reply topics: looked up before first use, proven by success, set aside on failure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from stream.exactly_once.selection import PROVEN
from stream.exactly_once.work_item import OWN
from stream.log.base import TopicDescription

#: Largest batch that the producer makes, in bytes; our own topics take it.
BATCH_BYTES_MAX: Final = 1_000_000
#: Reply topics remembered; the least recently used is forgotten first and looked up again when it is named again.
REPLY_TOPICS_MAX: Final = 4_096
#: So many transactions with a topic alone may time out, others succeeding between them, before it is quarantined.
FAILURES_MAX: Final = 3
#: A topic that takes less than a whole batch of the producer's goes alone always: its limit bounds its transactions.
SHARED_BYTES_MIN: Final = BATCH_BYTES_MAX
#: A quarantined topic is looked up again after so long.
QUARANTINE_S: Final = 30.0


@dataclass(slots=True)
class _ReplyTopic:
    partitions: int = 0
    proven: bool = False
    #: Why nothing can be written there; empty: usable.
    refusal: str = ""
    #: When a refused topic may be looked up again, by the monotonic clock.
    again_s: float = 0.0
    looked_up: bool = False
    #: Transactions with it alone that failed one after another, while others succeeded between them.
    failures: int = 0
    #: Successes of all transactions when it last failed.
    failed_at: int = -1
    #: Largest batch that the topic takes, in bytes.
    bytes_max: int = 2**31


class ReplyTopics:
    """State of every reply topic that records named. Time is handed in."""

    def __init__(self) -> None:
        self._known: dict[str, _ReplyTopic] = {}
        #: Topic -> partitions, for selection. The owner adds the service's own topics.
        self.partitions_of: dict[str, int] = {}
        self._successes = 0

    def kind(self, topic: str) -> str:
        """OWN, PROVEN, or the topic itself: it goes alone."""
        if topic is OWN:
            return OWN
        target = self._known.get(topic)
        shares = target is not None and target.proven and target.bytes_max >= SHARED_BYTES_MIN
        return PROVEN if shares else topic

    def bytes_max(self, kind: str) -> int:
        """Bytes of one transaction of this kind: a small topic's limit, so that no batch of good answers fails."""
        target = self._known.get(kind)
        return target.bytes_max if target is not None else 2**31

    def refusal(self, topic: str, partition: int, now_s: float) -> str | None:
        """Why an answer cannot be written there, or None. A topic whose quarantine is over is unknown again."""
        target = self._known.get(topic)
        if target is None or not target.looked_up:
            return None
        if target.refusal:
            if now_s < target.again_s:
                return target.refusal
            self.forget([topic])
            return None
        if partition >= target.partitions:
            return f"reply topic {topic} has {target.partitions} partitions, none with the number {partition}"
        return None

    def unknown(self, topics: Iterable[str]) -> list[str]:
        """Those of `topics` that must be looked up before anything is sent there."""
        return [
            t for t in set(topics) if t is not OWN and not (t in self._known and self._known[t].looked_up)
        ]

    def looked_up(self, found: Mapping[str, TopicDescription | None], now_s: float) -> list[str]:
        """Take in an answer of the broker; gives the topics that are refused."""
        refused = []
        for topic, description in found.items():
            target = self._remember(topic)
            target.looked_up = True
            if description is None:
                self.quarantine(topic, f"reply topic {topic} does not exist", now_s)
            elif "compact" in description.settings.get("cleanup.policy", ""):
                self.quarantine(
                    topic, f"reply topic {topic} is compacted: it would not keep every answer", now_s
                )
            else:
                target.partitions = self.partitions_of[topic] = description.partitions
                target.bytes_max = int(description.settings.get("max.message.bytes", target.bytes_max))
            if target.refusal:
                refused.append(topic)
        return refused

    def proved(self, topics: Iterable[str]) -> None:
        """A transaction with these topics (or with none) was committed: they may share from now on."""
        self._successes += 1
        for topic in topics:
            if topic is not OWN:
                target = self._remember(topic)
                target.proven, target.failures = True, 0

    def suspect(self, topics: Iterable[str]) -> None:
        """A transaction with these topics failed: each goes alone again, after a new look-up."""
        for topic in topics:
            if topic in self._known:
                self._known[topic].proven = self._known[topic].looked_up = False

    def failed_alone(self, topic: str) -> bool:
        """A transaction that held this topic alone timed out. True: once too often, while others succeeded.

        A broker in trouble fails everyone's transactions and proves nothing about the topic.
        """
        target = self._remember(topic)
        if self._successes > target.failed_at:
            target.failures += 1
            target.failed_at = self._successes
        return target.failures >= FAILURES_MAX

    def doubted(self, kind: str) -> bool:
        """It timed out alone, and no transaction has succeeded since: it must not stand before all others."""
        target = self._known.get(kind)
        return target is not None and target.failures > 0 and target.failed_at == self._successes

    def quarantine(self, topic: str, refusal: str, now_s: float) -> None:
        """Set aside: its answers become dead letters of class `unwritable` until it is looked up again."""
        target = self._remember(topic)
        target.refusal, target.again_s = refusal, now_s + QUARANTINE_S
        target.proven, target.looked_up = False, True

    def forget(self, topics: Iterable[str]) -> None:
        for topic in topics:
            self._known.pop(topic, None)
            self.partitions_of.pop(topic, None)

    @property
    def quarantined(self) -> list[str]:
        return [topic for topic, target in self._known.items() if target.refusal]

    def _remember(self, topic: str) -> _ReplyTopic:
        """The last used stands last."""
        target = self._known.pop(topic, None)
        if target is None:
            target = _ReplyTopic()
            while len(self._known) >= REPLY_TOPICS_MAX:
                self.forget([next(iter(self._known))])
        self._known[topic] = target
        return target
