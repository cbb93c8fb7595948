"""One librdkafka producer, from `init_transactions` to its end: the steps of a transaction with their retries."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition

from stream.background_call import BackgroundCall, CallStuck
from stream.log import reasons
from stream.log.base import OffsetCommit, Output
from stream.log.kafka.deliveries import Deliveries
from stream.log.kafka.events import log_event
from stream.log.kafka.failures import Verdict, cause, delivery_reason, verdict
from stream.log.kafka.settings import TRANSACTION_TIMEOUT_S, Settings
from stream.log.kafka.watch import CoordinatorWatch

_LOG = logging.getLogger(__name__)

#: Identical calls are repeated this long, then the outcome is unknown.
RETRY_S_MAX: Final = 2 * TRANSACTION_TIMEOUT_S
#: One call. librdkafka advises -1, yet that waits without a bound while the broker is away (seen); what a time-out
#: may leave behind in the client goes with it, for a client that saw one is replaced.
CALL_S_MAX: Final = TRANSACTION_TIMEOUT_S
#: One look whether a record has failed, while the others are on their way.
FLUSH_S: Final = 0.1
#: A call that is not back so long after its time-out never will be (background_call.py).
GRACE_S: Final = 5.0
#: librdkafka retries inside a call every 500 ms, unseen: slower than this may have sent a request twice.
UNSEEN_RETRY_S: Final = 0.5
_RETRY_PAUSE_S: Final = 0.05
#: What `produce` answers once the client has given its transaction, or itself, up: says nothing of the record.
_GIVEN_UP: Final = (KafkaError._STATE, KafkaError._FATAL)
#: Which topics there are, asked after a delivery that timed out.
LOOK_UP_S: Final = 5.0

Clock = Callable[[], float]
#: Makes a librdkafka producer of settings and callbacks.
Connect = Callable[[Mapping[str, object]], Producer]


def connect(settings: Mapping[str, object]) -> Producer:
    """A real one."""
    return Producer(settings)


class StepFailed(Exception):
    """A step of the transaction failed for good; says what that means."""

    def __init__(self, what: Verdict, label: str, *, again: bool = False) -> None:
        super().__init__(f"{what}: {label}")
        #: It was retriable to the end of our patience.
        self.again = again
        self.verdict = what
        self.cause = label


class Transactions:
    """A client and what must be known about it before its next begin."""

    def __init__(self, settings: Settings, clock: Clock, connect: Connect) -> None:
        #: Replace this client before the next begin: a stray EndTxn of ours may still be under way.
        self.tainted = False
        #: A call of ours timed out: being fenced may be our own doing.
        self.timed_out = False
        #: The commit was asked for in this transaction: from here on only the broker knows.
        self.committing = False
        self.deliveries: Final = Deliveries()
        self._clock = clock
        self._begun_s = clock()
        self._calls = BackgroundCall("transaction-calls")
        self._client = connect(
            {
                **settings,
                "on_delivery": self.deliveries.note,
                "error_cb": log_event,
                "logger": CoordinatorWatch(_LOG, self._taint),
            }
        )

    def initialise(self, timeout_s: float) -> None:
        """End the predecessor's transaction and fence it."""
        self._call(self._client.init_transactions, timeout_s, call_s=timeout_s)
        self.hear()
        self.tainted = self.timed_out = False

    def hear(self) -> None:
        """Serve what the client has to say: connections lost since the last look taint it. Costs microseconds."""
        try:
            self._client.poll(0)
        except KafkaException:  # a fatal event: this client is over
            self.tainted = True

    def begin(self) -> None:
        self.deliveries.clear()
        self.committing = False
        self._begun_s = self._clock()
        self._call(self._client.begin_transaction)

    def produce(self, outputs: Sequence[Output]) -> None:
        """The hot path: no object of ours for a record."""
        produce = self._client.produce
        try:
            for topic, key, value, headers, partition, timestamp_ms in outputs:
                try:
                    produce(topic, value, key, partition, None, None, timestamp_ms, headers)
                except BufferError:
                    self._when_room(
                        partial(produce, topic, value, key, partition, None, None, timestamp_ms, headers)
                    )
        except KafkaException as error:
            raise self._refused(-1, error.args[0]) from error

    def produce_attributed(self, outputs: Sequence[Output]) -> None:
        """As `produce`, and `deliveries` will name each output that was not delivered."""
        for place, (topic, key, value, headers, partition, timestamp_ms) in enumerate(outputs):
            note = partial(self.deliveries.note_of, place)
            send = partial(
                self._client.produce, topic, value, key, partition, note, None, timestamp_ms, headers
            )
            try:
                self._when_room(send)
            except KafkaException as error:
                raise self._refused(place, error.args[0]) from error

    def send_offsets(self, offsets: Sequence[OffsetCommit], native_group: object) -> None:
        positions = [
            TopicPartition(topic, partition, offset, metadata)
            for topic, partition, offset, metadata in offsets
        ]
        try:
            self._watched(self._client.send_offsets_to_transaction, positions, native_group, CALL_S_MAX)
        except StepFailed as failed:
            if (
                failed.verdict is Verdict.ABORT
            ):  # of the offsets, or of a record whose report nobody has heard yet
                self._flush()
                if self.deliveries.missing:
                    raise self._given_up() from failed
            raise

    def deliver(self, outputs: Sequence[Output]) -> None:
        """Wait for the acknowledgements apart, so that a failure is known before the commit is asked for."""
        left, known = self._flushed(), self.deliveries
        if known.missing:
            raise self._given_up()
        if left:
            known.missing += left
            self._note_missing(outputs)
            raise StepFailed(Verdict.ABORT, known.worst if known.failed else "delivery_timed_out")

    def commit(self) -> None:
        self.committing = True
        self._watched(self._client.commit_transaction, CALL_S_MAX)

    def abort(self) -> None:
        """Repeated while retriable. Not for one that is `holed`."""
        self._call(self._client.abort_transaction, CALL_S_MAX)

    def close(self) -> None:
        """Leave at once: what is still buffered must never be sent.

        Freeing it takes no time. The binding's own `close` aborts and flushes first, without a bound: with the
        broker away it never returns. An open transaction is ended by the next start under this id.
        """
        self._calls.close()
        if not self._calls.stuck:
            self._client.purge()
        del self._client  # it holds our callback and we hold it: without this it would live until the next gc

    def _call(self, call: Callable[..., object], *args: object, call_s: float | None = None) -> None:
        """The same call with identical arguments while it may be retried, bounded. `call_s`: the time that it was given."""
        deadline = self._clock() + (RETRY_S_MAX if call_s is None else call_s)
        while True:
            try:
                self._calls.make(partial(call, *args), wait_s=(call_s or CALL_S_MAX) + GRACE_S)
            except KafkaException as raised:
                self._judge(raised.args[0], deadline)
            except CallStuck:
                self.tainted = self.timed_out = True
                raise StepFailed(Verdict.UNKNOWN, "stuck", again=True) from None
            else:
                return

    def _judge(self, error: KafkaError, deadline: float) -> None:
        what = verdict(error)
        codes = (KafkaError._TIMED_OUT, KafkaError.REQUEST_TIMED_OUT)
        self.timed_out = self.timed_out or error.code() in codes or self._outlived
        self.tainted = self.tainted or what is not Verdict.ABORT
        if what is not Verdict.RETRY:
            raise StepFailed(what, cause(error))
        if self._clock() >= deadline:
            raise StepFailed(Verdict.UNKNOWN, cause(error), again=True)
        self._client.poll(_RETRY_PAUSE_S)

    @property
    def _outlived(self) -> bool:
        """This transaction is older than its timeout (a stall of ours): the broker may have ended it, and its
        answer then is that of a twin's fence."""
        return self._clock() - self._begun_s >= TRANSACTION_TIMEOUT_S

    def _taint(self) -> None:
        self.tainted = True

    def _flushed(self) -> int:
        """Records that were not delivered. Once one has failed the client sends no other: waiting for them is vain."""
        deadline = self._clock() + TRANSACTION_TIMEOUT_S
        left = self._flush()
        while left and not self.deliveries.missing and self._clock() < deadline:
            left = self._flush()
        return self._flush() if left and self.deliveries.missing else left  # the reports of its neighbours

    def _flush(self) -> int:
        """The binding raises a fatal event out of the call that serves it; `flush` wraps it in a SystemError."""
        try:
            left: int = self._client.flush(FLUSH_S)
        except (KafkaException, SystemError) as raised:
            event = raised if isinstance(raised, KafkaException) else raised.__cause__
            if not isinstance(event, KafkaException):
                raise
            raise self._over(event.args[0]) from raised
        return left

    def _watched(self, call: Callable[..., object], *args: object) -> None:
        began = self._clock()
        self._call(call, *args)
        self.tainted = self.tainted or self._clock() - began > UNSEEN_RETRY_S

    def _when_room(self, send: Callable[[], object]) -> None:
        """The client's buffer is full: serve it and try again, bounded."""
        deadline = self._clock() + TRANSACTION_TIMEOUT_S
        while True:
            try:
                send()
            except BufferError:
                if self._clock() >= deadline:
                    raise StepFailed(Verdict.ABORT, "queue_full") from None
                self._client.poll(_RETRY_PAUSE_S)
            else:
                return

    def _refused(self, place: int, error: KafkaError) -> StepFailed:
        """`produce` raised: committing now would move the offset without the record."""
        if error.code() in _GIVEN_UP:
            self.deliveries.missing += 1
            self._flushed()
            return self._given_up()
        if _is_over(error):
            return self._over(error)
        reason = delivery_reason(error)
        self.deliveries.refused(place, reason)
        return StepFailed(Verdict.ABORT, reason)

    def _given_up(self) -> StepFailed:
        """Some record will not arrive: its report says why."""
        if not self.deliveries.failed:
            self.deliveries.failed[-1] = self._why_purged()
        return StepFailed(Verdict.ABORT, self.deliveries.worst)

    def _why_purged(self) -> str:
        """The client gave the transaction up and purged all: only the commit, which it refuses then, tells why."""
        try:
            commit = partial(self._client.commit_transaction, CALL_S_MAX)
            self._calls.make(commit, wait_s=CALL_S_MAX + GRACE_S)
        except KafkaException as raised:
            error = raised.args[0]
            if _is_over(error):
                raise self._over(error) from raised
            return delivery_reason(error)
        except CallStuck:
            self.tainted = self.timed_out = True
        raise StepFailed(Verdict.UNKNOWN, "undelivered")

    def _over(self, error: KafkaError) -> StepFailed:
        """This client is at its end."""
        self.tainted = True
        self.timed_out = self.timed_out or self._outlived
        return StepFailed(verdict(error), cause(error))

    def _note_missing(self, outputs: Sequence[Output]) -> None:
        """Records of a topic that was deleted under the client may wait for it to the end, without a report (seen)."""
        try:
            known = self._client.list_topics(timeout=LOOK_UP_S).topics
        except KafkaException:  # nobody answers: that explains the time-out, and no topic is to blame
            return
        self.deliveries.failed = {
            place: reasons.UNKNOWN_TOPIC for place, output in enumerate(outputs) if output.topic not in known
        }

    @property
    def holed(self) -> bool:
        """A record will not arrive: the sequence of its partition has a hole that only a new epoch mends."""
        return self.deliveries.missing > 0


def _is_over(error: KafkaError) -> bool:
    return error.fatal() or verdict(error) is Verdict.FENCED
