"""A prefix of the batch with the offsets of its records, as one transaction: what each outcome does to the batch."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stream.dispatcher.batch import Batch
from stream.dispatcher.progress import CommittedMaps, Progress
from stream.dispatcher.reply_topics import ReplyTopicChecks
from stream.dispatcher.tally import Tally
from stream.errors import LogError
from stream.exactly_once.abort_policy import Action, Contents
from stream.exactly_once.halving import Halving
from stream.log import reasons
from stream.log.base import Aborted, OffsetCommit, Output, Partition, Record

log = logging.getLogger(__name__)

#: Makes another output of a record whose own was refused: (record, output, reason).
Substitute = Callable[[Record, Output, str], Output]


@dataclass(frozen=True, slots=True)
class Effects:
    """What outcomes change beside the batch."""

    progress: Progress
    halving: Halving
    tally: Tally
    substitute: Substitute
    replies: ReplyTopicChecks


class BatchTransaction:
    """The first `count` records of the batch."""

    def __init__(
        self, batch: Batch, count: int, offsets: Sequence[OffsetCommit], effects: Effects, *, attributed: bool
    ) -> None:
        self._batch = batch
        self._count = count
        self._effects = effects
        whole = count == len(batch)
        self.records = batch.records if whole else batch.records[:count]
        self.outputs: Sequence[Output] = batch.outputs if whole else batch.outputs[:count]
        self.offsets = offsets
        foreign = {output.topic for output in self.outputs} & batch.foreign if batch.foreign else frozenset()
        self.contents = Contents(count, foreign, attributed)

    def committed(self) -> None:
        self._effects.progress.note({Partition(o.topic, o.partition): o.offset for o in self.offsets})
        self._done()

    def reconciled(self, found: CommittedMaps) -> bool:
        """Partly committed: the partition has another owner by now, who went on; ours was not committed."""
        progress = self._effects.progress
        below = progress.done_below(found)
        progress.note(below)
        if progress.holds(self.offsets, found):
            self._done()
            return True
        self._batch.drop_below(below)
        return False

    def aborted(self, outcome: Aborted, action: Action) -> None:
        match action:
            case Action.BACK_OFF:
                self._doubt(outcome.cause)
            case Action.NARROW:
                # A refused record takes its neighbours along: halve until it stands alone, with its reason.
                self._effects.halving.failed(self._count)
            case Action.GIVE_UP_ANSWER:
                self._substitute(0, outcome.failed.get(0, outcome.cause))
            case Action.QUARANTINE | Action.SEPARATE:
                for topic in self.contents.reply_topics:
                    self._quarantine(topic, outcome.failed.get(0, outcome.cause))
            case Action.STOP:
                self._stop(outcome)

    def _done(self) -> None:
        effects = self._effects
        effects.tally.committed(self.records, self.outputs)
        self._batch.done(self._count)
        effects.halving.succeeded()
        effects.replies.topics.proved(self.contents.reply_topics)

    def _doubt(self, cause: str) -> None:
        """A reply topic that stands alone and times out again and again becomes known to take nothing.

        Where it was the broker's fault, its dead letters cannot be published either before the broker is well again.
        """
        if not self.contents.reply_topics or not reasons.may_blame_topic(cause):
            return
        for topic in self.contents.reply_topics:
            # Nothing overtakes it: the offsets go on in order.
            if self._effects.replies.topics.failed_alone(topic, overtaken=False):
                self._quarantine(topic, cause)

    def _quarantine(self, topic: str, cause: str) -> None:
        log.error("%s; it is set aside", self._effects.replies.quarantine(topic, cause))
        for place, output in enumerate(self._batch.outputs):
            if output.topic == topic:
                self._substitute(place, cause)
        self._batch.foreign.discard(topic)

    def _substitute(self, place: int, reason: str) -> None:
        outputs = self._batch.outputs
        outputs[place] = self._effects.substitute(self._batch.records[place], outputs[place], reason)

    def _stop(self, outcome: Aborted) -> None:
        why = ", ".join(sorted({outcome.cause, *outcome.failed.values()}))
        topics = ", ".join(sorted({output.topic for output in self.outputs})) or "an offset map"
        raise LogError(f"{topics} takes no records: {why}")
