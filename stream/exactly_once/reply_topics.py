"""What is known of the reply topics that are not ours: looked up before first use, proven by success, quarantined on failure."""

from __future__ import annotations

import math
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
#: Why nothing can be written to a topic.
ABSENT: Final = "does not exist; create it before the request"
COMPACTED: Final = "is compacted: it would not keep every answer"
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
    #: When it was looked up, by the monotonic clock; None: it must be, before anything is sent there.
    looked_up_s: float | None = None
    #: Transactions with it alone that failed one after another, while others succeeded between them.
    failures: int = 0
    #: Successes of all transactions when it last failed.
    failed_at: int = -1
    #: Largest batch that the topic takes, in bytes.
    bytes_max: int = 2**31


class ReplyTopics:
    """State of every reply topic that records named. Time is handed in."""

    def __init__(self, fresh_s: float = math.inf) -> None:
        """`fresh_s`: what was looked up is believed for so long."""
        self._fresh_s = fresh_s
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
        if target is None or target.looked_up_s is None:
            return None
        if target.refusal:
            if now_s < target.again_s:
                return target.refusal
            self.forget([topic])
            return None
        if partition >= target.partitions:
            return f"the reply topic {topic!r} has {target.partitions} partitions, no partition {partition}"
        return None

    def unknown(self, topics: Iterable[str], now_s: float) -> list[str]:
        """Those of `topics` that must be looked up before anything is sent there."""
        return [topic for topic in set(topics) if topic is not OWN and not self._is_fresh(topic, now_s)]

    def _is_fresh(self, topic: str, now_s: float) -> bool:
        target = self._known.get(topic)
        looked_up_s = None if target is None else target.looked_up_s
        return looked_up_s is not None and now_s - looked_up_s < self._fresh_s

    def looked_up(self, found: Mapping[str, TopicDescription | None], now_s: float) -> list[str]:
        """Take in an answer of the broker; gives the topics that are refused."""
        refused = []
        for topic, description in found.items():
            target = self._remember(topic)
            target.looked_up_s = now_s
            if description is None:
                self.quarantine(topic, ABSENT, now_s)
            elif "compact" in description.settings.get("cleanup.policy", ""):
                self.quarantine(topic, COMPACTED, now_s)
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
                self._known[topic].proven = False
                self._known[topic].looked_up_s = None

    def failed_alone(self, topic: str, *, overtaken: bool = True) -> bool:
        """A transaction that held this topic alone timed out. True: once too often, while others succeeded.

        A broker in trouble fails everyone's transactions and proves nothing about the topic. `overtaken` False: no other
        can go before it, so each failure counts.
        """
        target = self._remember(topic)
        if self._successes > target.failed_at or not overtaken:
            target.failures += 1
            target.failed_at = self._successes
        return target.failures >= FAILURES_MAX

    def doubted(self, kind: str) -> bool:
        """It timed out alone, and no transaction has succeeded since: it must not stand before all others."""
        target = self._known.get(kind)
        return target is not None and target.failures > 0 and target.failed_at == self._successes

    def quarantine(self, topic: str, why: str, now_s: float) -> str:
        """Its answers become dead letters of class `unwritable`, with these words, until it is looked up again."""
        target = self._remember(topic)
        target.refusal, target.again_s = f"the reply topic {topic!r} {why}", now_s + QUARANTINE_S
        target.proven, target.looked_up_s = False, now_s
        return target.refusal

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
