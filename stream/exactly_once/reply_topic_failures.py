"""Foreign reply topics in the commit round: look-ups, doubt, quarantine, and what becomes of their answers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import Final, Protocol

from schemas.failure import ErrorClass, Failure, Stage
from stream.errors import LogError
from stream.exactly_once.ready_answers import ReadyAnswers
from stream.exactly_once.reply_topics import ReplyTopics
from stream.exactly_once.work_item import WorkItem
from stream.log.base import LogAdmin

_LOG = logging.getLogger(__name__)

#: Bound of one look-up of reply topics, and the wait after one that failed.
LOOK_UP_S: Final = 5.0


class Outputs(Protocol):
    """Writes what cannot be delivered anew, in the next form that can."""

    def give_up(self, record: WorkItem, failure: Failure) -> bool:
        """Replace its outputs; False: there is nothing smaller, or nowhere else."""


class ReplyTopicFailures:
    """A bad reply topic costs its own answers: they become dead letters of class `unwritable`."""

    def __init__(
        self,
        *,
        targets: ReplyTopics,
        ready: ReadyAnswers,
        outputs: Outputs,
        admin: LogAdmin,
        clock: Callable[[], float],
    ) -> None:
        self.targets = targets
        self._ready = ready
        self._outputs = outputs
        self._admin = admin
        self._clock = clock
        self._look_again_s = 0.0

    def look_up(self, now_s: float) -> bool:
        """Learn about reply topics before their first use. False: that failed, only our own topics can be written."""
        unknown = self.targets.unknown(self._ready.foreign, now_s)
        if not unknown:
            return True
        if now_s < self._look_again_s:
            return False
        try:
            found = self._admin.describe(unknown, LOOK_UP_S)
        except LogError as error:
            _LOG.warning("cannot look up reply topics %s: %s", unknown, error)
            self._look_again_s = self._clock() + LOOK_UP_S
            return False
        self.targets.looked_up(found, now_s)
        for record in self._ready.bound_for(unknown):
            refusal = self.targets.refusal(record.target, _partition(record), now_s)
            if refusal is not None:
                self.give_up(record, ErrorClass.UNWRITABLE, refusal)
        return True

    def doubt(self, topics: Collection[str], cause: str) -> None:
        """One of these may be what failed: look it up again, alone; set it aside when that happens time and again."""
        self.targets.suspect(topics)
        if len(topics) == 1 and self.targets.failed_alone(topic := next(iter(topics))):
            self.quarantine(topic, cause)

    def quarantine(self, topic: str, cause: str) -> None:
        """Set a reply topic aside for a while."""
        refusal = self.targets.quarantine(topic, f"takes no records: {cause}", self._clock())
        _LOG.error("%s; it is set aside", refusal)
        for record in self._ready.bound_for([topic]):
            self.give_up(record, ErrorClass.UNWRITABLE, refusal)

    def give_up(self, record: WorkItem, error_class: ErrorClass, message: str) -> None:
        """The record gets a dead letter in place of its answer, and keeps its turn."""
        target, size_bytes = record.target, record.size_bytes
        if not self._outputs.give_up(record, Failure(error_class, Stage.PUBLISH, message)):
            raise LogError(f"the dead letter of {record.place.topic}/{record.offset} cannot be written")
        self._ready.rewritten(record, target, size_bytes)


def _partition(record: WorkItem) -> int:
    """The partition that its answer names; -1: by key."""
    return max(output.partition for output in record.outputs if output.topic == record.target)
