"""One transaction is published and its outcome settled: the only place where that is decided, for every role.

Success: its role is told. Aborted: the abort policy says what its role does. Unknown: a new client ends the old
transaction, and the oracle says what is committed. Fenced: the process ends.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final, Generic, Protocol, TypeVar

from stream.background_call import Meanwhile, nothing
from stream.errors import LogFenced
from stream.exactly_once.abort_policy import Action, Contents, action_for
from stream.log.base import (
    Aborted,
    Fenced,
    GroupStamp,
    LogProducer,
    OffsetCommit,
    Outcome,
    Output,
    Success,
    Unknown,
    nowhere,
)
from stream.retry import BackOff, retry_until

_LOG = logging.getLogger(__name__)

#: An unknown outcome is known within this: longer than the transaction timeout, the broker's sweep and a coordinator's
#: move together.
RECONCILE_S_MAX: Final = 120.0

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
T_contra = TypeVar("T_contra", contravariant=True)


class Oracle(Protocol[T_co]):
    """What every reader can see of our transactions, once none of them is under way any more."""

    def committed(self, offsets: Sequence[OffsetCommit], deadline_s: float) -> T_co:
        """Asked about a transaction with these offsets, until `deadline_s` of the clock; then LogTimeout."""


class PendingTransaction(Protocol[T_contra]):
    """One transaction, as its role keeps it until the outcome is known."""

    @property
    def outputs(self) -> Sequence[Output]: ...
    @property
    def offsets(self) -> Sequence[OffsetCommit]: ...
    @property
    def contents(self) -> Contents: ...
    def committed(self) -> None:
        """It is known to be committed: only now its outputs may be dropped."""

    def aborted(self, outcome: Aborted, action: Action) -> None:
        """It is known not to be committed: do `action`, which the abort policy chose."""

    def reconciled(self, found: T_contra) -> bool:
        """The oracle's answer: keep what is not committed. True: all of it is."""


class OutcomeMachine(Generic[T]):
    """Belongs to the thread of its producer."""

    def __init__(
        self,
        producer: LogProducer,
        oracle: Oracle[T],
        back_off: BackOff,
        *,
        clock_s: Callable[[], float],
        reach: Callable[[str], None] = nowhere,
        exclusive: bool = False,
        fenced_words: str = "another process has taken this slot",
    ) -> None:
        """`exclusive`: what the oracle said holds for one life of the producer; in the next one it is asked first."""
        self._producer = producer
        self._oracle = oracle
        self._clock_s = clock_s
        self._reach = reach
        self._fenced_words = fenced_words
        self._life = producer.lives if exclusive else None
        self.back_off = back_off

    def publish(
        self, pending: PendingTransaction[T], group: GroupStamp | None, while_waiting: Meanwhile = nothing
    ) -> Outcome:
        """The outcome as the log told it; `settle` comes next."""
        return self._producer.publish(
            pending.outputs,
            pending.offsets,
            group,
            attribute=pending.contents.attributed,
            reach=self._reach,
            while_waiting=while_waiting,
            life=self._life,
        )

    def settle(self, pending: PendingTransaction[T], outcome: Outcome) -> bool:
        """True: all of it is committed. LogFenced, LogTimeout, MapUnreadable end the process."""
        match outcome:
            case Success():
                self.back_off.succeeded()
                pending.committed()
                return True
            case Aborted():
                self._aborted(pending, outcome)
                return False
            case Unknown():
                return self._ask(pending, outcome)
            case Fenced():
                raise LogFenced(f"{self._fenced_words}: {outcome.cause}")

    def _aborted(self, pending: PendingTransaction[T], outcome: Aborted) -> None:
        contents = pending.contents
        action = action_for(outcome, contents)
        _LOG.warning(
            "a transaction of %d answers was aborted (%s): %s", contents.sources, outcome.cause, action
        )
        pending.aborted(outcome, action)
        if action is Action.BACK_OFF:
            self.back_off.failed(self._clock_s(), outcome.cause)

    def _ask(self, pending: PendingTransaction[T], outcome: Unknown) -> bool:
        _LOG.warning("nobody knows whether a transaction was committed (%s): asking", outcome.cause)
        deadline_s = self._clock_s() + RECONCILE_S_MAX
        retry_until(self._producer.start, deadline_s, self._clock_s)
        if self._life is not None:
            self._life = self._producer.lives
        if pending.reconciled(self._oracle.committed(pending.offsets, deadline_s)):
            self.back_off.succeeded()
            return True
        self.back_off.failed(self._clock_s(), "outcome_unknown")
        return False
