"""Reply topics: allowed, there, and able to take the answer; looked up before their first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from schemas.errors import BadRecord
from schemas.failure import ErrorClass, Stage
from stream.config.loops import reply_patterns
from stream.config.settings import Settings
from stream.errors import LogError, LogTimeout
from stream.exactly_once.reply_topics import ABSENT, ReplyTopics
from stream.log.base import LogAdmin, TopicDescription

#: A topic that was found is believed to be there for so long; the worker looks at its own failures.
FRESH_S: Final = 30.0
LOOKUP_TIMEOUT_S: Final = 2.0
#: Topics looked at for one batch: it is read while a transaction is open, which must not get old. The rest waits.
LOOKUPS_MAX: Final = 100


class ReplyTopicChecks:
    """Checks reply targets. A missing topic costs one look at the topic list for each batch, however many name it."""

    def __init__(self, settings: Settings, admin: LogAdmin, clock_s: Callable[[], float]) -> None:
        self._patterns = reply_patterns(settings)
        self._allowed_words = ", ".join(pattern.text for pattern in self._patterns)
        self._admin = admin
        self._clock_s = clock_s
        self.topics = ReplyTopics(FRESH_S)
        self._names: Mapping[str, int] | None = None
        self._lookups = 0

    def next_batch(self) -> None:
        """New records were read: a topic may have been created before them."""
        self._names = None
        self._lookups = 0

    def quarantine(self, topic: str, cause: str) -> str:
        """Nothing can be delivered to it: no answers go there for a while. Gives the words of it."""
        return self.topics.quarantine(topic, f"takes no records: {cause}", self._clock_s())

    def check(self, topic: str, partition: int | None) -> None:
        """BadRecord where no answer can be written there; LogTimeout when Kafka does not say in time."""
        if not any(pattern.matches(topic) for pattern in self._patterns):
            words = f"headrace-reply-to: {topic!r} is no reply topic; allowed: {self._allowed_words}"
            raise BadRecord(ErrorClass.INVALID, Stage.VALIDATE, words)
        now_s, number = self._clock_s(), -1 if partition is None else partition
        refusal = self.topics.refusal(topic, number, now_s)
        if self.topics.unknown([topic], now_s):
            self._look_up(topic, now_s)
            refusal = self.topics.refusal(topic, number, now_s)
        if refusal is not None:
            raise _unwritable(refusal)

    def _look_up(self, topic: str, now_s: float) -> None:
        if self._names is None:
            self._names = self._admin.topics(LOOKUP_TIMEOUT_S)
        found = self._describe(topic, self._names[topic]) if topic in self._names else None
        if found is None:
            # Not remembered: it may be there when the next batch is read.
            self.topics.forget([topic])
            raise _unwritable(f"the reply topic {topic!r} {ABSENT}")
        self.topics.looked_up({topic: found}, now_s)

    def _describe(self, topic: str, partitions: int) -> TopicDescription | None:
        self._lookups += 1
        if self._lookups > LOOKUPS_MAX:
            raise LogTimeout(f"too many reply topics at once, {topic!r} is looked at soon")
        try:
            return self._admin.describe([topic], LOOKUP_TIMEOUT_S)[topic]
        except LogTimeout:
            raise
        except LogError:
            # The right to see a topic's settings is not the right to write it: the worker will find out.
            return TopicDescription(topic, partitions, {})


def _unwritable(message: str) -> BadRecord:
    return BadRecord(ErrorClass.UNWRITABLE, Stage.ROUTE, message)
