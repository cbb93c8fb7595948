"""What the proxy does to chosen EndTxn requests, and its record of what bit."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from tests.chaos.proxy.wire import EndTxn


class Action(StrEnum):
    """What happens to one EndTxn."""

    #: The sender is killed; the broker never sees the request. Only where there are outputs that nobody may see then.
    KILL_BEFORE = "kill_before_end_txn"
    #: The broker has answered; the sender is killed before it hears.
    KILL_AFTER = "kill_after_end_txn"
    #: The answer is swallowed, the connection stays.
    DROP_RESPONSE = "drop_end_txn_response"
    #: The connection breaks instead of the answer.
    SEVER_RESPONSE = "sever_end_txn_response"
    DELAY_RESPONSE = "delay_end_txn_response"
    #: Held back while the sender tries again, then sent into its next transaction (KAFKA-17754).
    STRAY = "stray_end_txn"


@dataclass(frozen=True, slots=True)
class EndTxnFault:
    """The `nth` commit (or abort) from now on of the transactional id `of` meets `action`."""

    of: str
    action: Action
    nth: int = 1
    #: Of DELAY_RESPONSE, in seconds.
    delay_s: float = 0.0
    #: False: aborts are counted, and met, instead.
    commit: bool = True


class FaultPlan:
    """Faults yet to come, and those that bit. Thread safe: tests inject, the proxy's loop takes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[tuple[EndTxnFault, int]] = []
        self._bitten: Counter[tuple[str, Action]] = Counter()

    def inject(self, fault: EndTxnFault) -> None:
        with self._lock:
            self._waiting.append((fault, fault.nth))

    def take(self, end: EndTxn, *, with_outputs: bool) -> EndTxnFault | None:
        """The fault that is due for this request, if any; counts down the others of its transactional id."""
        with self._lock:
            due: EndTxnFault | None = None
            kept: list[tuple[EndTxnFault, int]] = []
            for fault, left in self._waiting:
                mine = (fault.of, fault.commit) == (end.transactional_id, end.commit)
                waits = fault.action is Action.KILL_BEFORE and not with_outputs
                if mine and left == 1 and due is None and not waits:
                    due = fault
                else:
                    kept.append((fault, max(left - 1, 1) if mine else left))
            self._waiting = kept
            return due

    def bite(self, action: Action, of: str) -> None:
        with self._lock:
            self._bitten[of, action] += 1

    @property
    def bitten(self) -> Counter[str]:
        """By action."""
        return self.bitten_in("")

    def bitten_in(self, prefix: str) -> Counter[str]:
        """By action, of the transactional ids that begin so."""
        with self._lock:
            found: Counter[str] = Counter()
            for (of, action), count in self._bitten.items():
                found[action.value] += count if of.startswith(prefix) else 0
            return found

    @property
    def waiting(self) -> int:
        with self._lock:
            return len(self._waiting)

    def forget(self) -> None:
        """Drop what has not bitten."""
        with self._lock:
            self._waiting.clear()
