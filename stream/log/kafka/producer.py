"""The transactional producer: each publish is one whole transaction with exactly one outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from confluent_kafka import KafkaError

from stream.background_call import BackgroundCall, Meanwhile, nothing
from stream.errors import LogError, LogFenced, LogTimeout, RightMissing
from stream.log import reasons
from stream.log.base import (
    Aborted,
    Fenced,
    GroupStamp,
    OffsetCommit,
    Outcome,
    Output,
    Success,
    Unknown,
    nowhere,
)
from stream.log.how_to_allow import how_to_allow
from stream.log.kafka.failures import Verdict, cause
from stream.log.kafka.settings import Settings
from stream.log.kafka.transaction import RETRY_S_MAX, Clock, Connect, StepFailed, Transactions, connect
from stream.log.limits import check_offsets

#: The coordinator's sweep makes its list of expired transactions first and aborts each later, without a look whether it is
#: still the one that had expired (Kafka 4.0, TransactionCoordinator.abortTimedOutTransactions): it may hit, and fence, the
#: first transaction of the very client that has just ended the expired one (seen after a broker was away for a minute).
SWEEP_S: Final = 2.0
#: Once in so long a time we believe that. Twins that always did would take the id from each other for ever.
BELIEVED_EVERY_S: Final = 60.0
_NOT_ALLOWED: Final = cause(KafkaError(KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED))


class KafkaProducer:
    """A `LogProducer` over confluent-kafka."""

    def __init__(
        self, settings: Settings, *, clock: Clock = time.monotonic, connect: Connect = connect
    ) -> None:
        self._settings: Final = settings
        self._clock: Final = clock
        self._connect: Final = connect
        self._client: Transactions | None = None
        self._waiting: Final = BackgroundCall("transactions")
        self.lives = 0
        self._started_s = self._believed_s = float("-inf")
        #: When the transaction under way began.
        self._begun_s = float("-inf")

    def start(self, timeout_s: float) -> None:
        """A new client under the same id; LogFenced, LogTimeout or LogError when it cannot be had."""
        try:
            self._renew(timeout_s)
        except StepFailed as failed:
            raise _start_error(failed, self._settings) from failed

    def publish(
        self,
        outputs: Sequence[Output],
        offsets: Sequence[OffsetCommit],
        group: GroupStamp | None,
        *,
        attribute: bool = False,
        reach: Callable[[str], None] = nowhere,
        while_waiting: Meanwhile = nothing,
        life: int | None = None,
    ) -> Outcome:
        check_offsets(offsets, group)
        if group is not None and not group.valid:
            return Aborted(reasons.STALE_MEMBER, {})
        if (unready := self._make_ready(while_waiting)) is not None:
            return unready
        if life not in (None, self.lives):
            return Unknown(reasons.RENEWED)
        client = self._running()
        self._begun_s = self._clock()
        try:
            rest = self._hand_over(client, outputs, offsets, group, attribute=attribute, reach=reach)
            return self._waiting.make(rest, while_waiting)
        except BaseException:
            client.tainted = True
            raise

    def is_fenced(self, group: GroupStamp) -> bool:
        """Any offset will do: the coordinator looks at our epoch first, and the transaction is aborted.

        Asked with the client as it is, even a tainted one: a new client would take the id from the very twin.
        """
        client = self._running()
        self._begun_s = self._clock()
        try:
            client.begin()
            client.send_offsets([OffsetCommit("__consumer_offsets", 0, 0, "")], group.native)
            client.abort()
        except StepFailed as failed:
            return isinstance(self._end(client, failed), Fenced)
        return False

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _hand_over(
        self,
        client: Transactions,
        outputs: Sequence[Output],
        offsets: Sequence[OffsetCommit],
        group: GroupStamp | None,
        *,
        attribute: bool,
        reach: Callable[[str], None],
    ) -> Callable[[], Outcome]:
        """Begin, and give the client all outputs, which waits for nothing. What is left to do is waiting."""
        try:
            client.begin()
            reach("begun")
            if attribute:
                client.produce_attributed(outputs)
            else:
                client.produce(outputs)
            reach("produced")
        except StepFailed as failed:
            return partial(self._failed, client, failed, outputs, attribute=attribute)
        return partial(self._finish, client, outputs, offsets, group, attribute=attribute, reach=reach)

    def _finish(
        self,
        client: Transactions,
        outputs: Sequence[Output],
        offsets: Sequence[OffsetCommit],
        group: GroupStamp | None,
        *,
        attribute: bool,
        reach: Callable[[str], None],
    ) -> Outcome:
        try:
            if offsets and group is not None:
                client.send_offsets(offsets, group.native)
            reach("offsets_sent")
            client.deliver(outputs)
            client.commit()
            reach("committed")
        except StepFailed as failed:
            return self._failed(client, failed, outputs, attribute=attribute)
        return Success()

    def _failed(
        self, client: Transactions, failed: StepFailed, outputs: Sequence[Output], *, attribute: bool
    ) -> Outcome:
        outcome = self._end(client, failed)
        if attribute and isinstance(outcome, Aborted) and outcome.delivery and not outcome.failed:
            return Aborted(outcome.cause, self._try_topics(outputs), delivery=True)
        return outcome

    def _try_topics(self, outputs: Sequence[Output]) -> dict[int, str]:
        """The broker refused a topic without naming it: each alone, in transactions that are never committed."""
        failed: dict[int, str] = {}
        for topic in dict.fromkeys(output.topic for output in outputs):
            places = [place for place, output in enumerate(outputs) if output.topic == topic]
            reason = self._try(outputs[places[0]])
            if reason in reasons.PERMANENT:
                failed.update(dict.fromkeys(places, reason))
        return failed

    def _try(self, output: Output) -> str | None:
        if self._make_ready() is not None:
            return None
        client = self._running()
        self._begun_s = self._clock()
        try:
            client.begin()
            client.produce([output])
            client.deliver([output])
            client.abort()
        except StepFailed as failed:
            outcome = self._end(client, failed)
            return outcome.cause if isinstance(outcome, Aborted) else None
        return None

    def _make_ready(self, while_waiting: Meanwhile = nothing) -> Outcome | None:
        """Replace a tainted client before it begins: the new epoch fences whatever is still under way."""
        self._running().hear()
        return self._waiting.make(self._replace, while_waiting) if self._running().tainted else None

    def _replace(self) -> Outcome | None:
        """A new client instead of this one; None: it is ready."""
        try:
            self._renew(RETRY_S_MAX)
        except StepFailed as failed:
            # Nothing of these outputs was begun, so nothing of them can be committed.
            return Fenced(failed.cause) if failed.verdict is Verdict.FENCED else Aborted(failed.cause, {})
        return None

    def _end(self, client: Transactions, failed: StepFailed) -> Outcome:
        """From the step that failed to the one outcome."""
        if failed.verdict is Verdict.FENCED:
            client.tainted = True
            return Unknown(failed.cause) if client.timed_out or self._swept() else Fenced(failed.cause)
        if failed.verdict is not Verdict.ABORT:
            client.tainted = True
            return Unknown(failed.cause)
        known = client.deliveries
        return self._abort(client, Aborted(failed.cause, known.attributed, delivery=known.permanent))

    def _abort(self, client: Transactions, outcome: Aborted) -> Outcome:
        """End the transaction, a holed one by the start of the next client.

        librdkafka's own abort would bump the epoch after a hole, and name the one it had. If a twin has started since,
        the coordinator fences that twin's open transaction first and refuses us second: both would end.
        """
        if client.holed:
            unready = self._replace()
            return unready if isinstance(unready, Fenced) else outcome
        try:
            client.abort()
        except StepFailed as failed:
            client.tainted = True
            if failed.verdict is Verdict.FENCED and not client.timed_out and not self._swept():
                return Fenced(failed.cause)
            # A commit that was never asked for cannot happen: the next client's start ends the transaction.
            return Unknown(failed.cause) if client.committing else outcome
        return outcome

    def _swept(self) -> bool:
        """Whether being fenced may be the sweep's doing: what began right after we made our client anew, and for once."""
        now, age_s = self._clock(), self._begun_s - self._started_s
        believed = self.lives > 1 and age_s < SWEEP_S and now - self._believed_s >= BELIEVED_EVERY_S
        if believed:
            self._believed_s = now
        return believed

    def _renew(self, timeout_s: float) -> None:
        self.close()
        client = Transactions(self._settings, self._clock, self._connect)
        self._client = client
        client.tainted = True
        client.initialise(timeout_s)
        self.lives += 1
        self._started_s = self._clock()

    def _running(self) -> Transactions:
        if self._client is None:
            raise LogError("publish before start")
        return self._client


def _start_error(failed: StepFailed, settings: Settings) -> LogError:
    message = f"the transactional producer did not start: {failed.cause}"
    if failed.cause == _NOT_ALLOWED:
        name = str(settings["transactional.id"])
        return RightMissing(how_to_allow("transactional-id", name, ("Write", "Describe")))
    if failed.verdict is Verdict.FENCED:
        return LogFenced(message)
    return LogTimeout(message) if failed.again else LogError(message)
