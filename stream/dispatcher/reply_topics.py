"""Reply topics: allowed, there, and able to take the answer; looked up before their first use."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final

from schemas.errors import BadRecord
from schemas.failure import ErrorClass, Stage
from stream.config.loops import reply_patterns
from stream.config.settings import Settings
from stream.errors import LogError, LogTimeout
from stream.log.base import LogAdmin, TopicDescription

#: A topic that was found is believed to be there for so long; the worker looks at its own failures.
FRESH_S: Final = 30.0
#: A topic that took nothing in time is tried again after so long.
ASIDE_S: Final = 30.0
#: Topics remembered; the one unused for longest goes first.
KNOWN_MAX: Final = 1024
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
        self._known: OrderedDict[str, tuple[float, TopicDescription]] = OrderedDict()
        #: Topics that nothing could be delivered to, and until when they are not tried again.
        self._aside: dict[str, float] = {}
        self._names: Mapping[str, int] | None = None
        self._lookups = 0

    def next_batch(self) -> None:
        """New records were read: a topic may have been created before them."""
        self._names = None
        self._lookups = 0

    def set_aside(self, topic: str) -> None:
        """Nothing can be delivered to it, time and again: no answers go there for a while."""
        now = self._clock_s()
        self._aside = {other: until for other, until in self._aside.items() if until > now}
        self._aside[topic] = now + ASIDE_S

    def check(self, topic: str, partition: int | None) -> None:
        """BadRecord where no answer can be written there; LogTimeout when Kafka does not say in time."""
        if not any(pattern.matches(topic) for pattern in self._patterns):
            words = f"headrace-reply-to: {topic!r} is no reply topic; allowed: {self._allowed_words}"
            raise BadRecord(ErrorClass.INVALID, Stage.VALIDATE, words)
        if self._aside.get(topic, -math.inf) > self._clock_s():
            raise _unwritable(f"the reply topic {topic!r} takes no records now")
        found = self._find(topic)
        if found is None:
            raise _unwritable(f"the reply topic {topic!r} does not exist; create it before the request")
        if partition is not None and not 0 <= partition < found.partitions:
            raise _unwritable(
                f"the reply topic {topic!r} has {found.partitions} partitions, no partition {partition}"
            )
        if "compact" in found.settings.get("cleanup.policy", ""):
            raise _unwritable(f"the reply topic {topic!r} is compacted: it would not keep every answer")

    def _find(self, topic: str) -> TopicDescription | None:
        now = self._clock_s()
        known = self._known.get(topic)
        if known is not None and now - known[0] < FRESH_S:
            self._known.move_to_end(topic)
            return known[1]
        if self._names is None:
            self._names = self._admin.topics(LOOKUP_TIMEOUT_S)
        found = self._describe(topic, self._names)
        if found is None:
            self._known.pop(topic, None)
            return None
        self._known[topic] = (now, found)
        self._known.move_to_end(topic)
        if len(self._known) > KNOWN_MAX:
            self._known.popitem(last=False)
        return found

    def _describe(self, topic: str, names: Mapping[str, int]) -> TopicDescription | None:
        if topic not in names:
            return None
        self._lookups += 1
        if self._lookups > LOOKUPS_MAX:
            raise LogTimeout(f"too many reply topics at once, {topic!r} is looked at soon")
        try:
            return self._admin.describe([topic], LOOKUP_TIMEOUT_S)[topic]
        except LogTimeout:
            raise
        except LogError:
            # The right to see a topic's settings is not the right to write it: the worker will find out.
            return TopicDescription(topic, names[topic], {})


def _unwritable(message: str) -> BadRecord:
    return BadRecord(ErrorClass.UNWRITABLE, Stage.ROUTE, message)
