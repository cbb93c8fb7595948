"""Order inside a partition: one run at a time per explicit session, in the order of delivery."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")

#: (tenant, session): equal ids of two tenants never meet.
SessionKey = tuple[str, str]


class SessionOrder(Generic[T]):
    """Holds a session's later records until the run before is DONE. A record without a session never waits."""

    def __init__(self) -> None:
        #: By the sessions that run; None where nobody waits, as is usual.
        self._behind: dict[SessionKey, deque[T] | None] = {}

    def admit(self, key: SessionKey, record: T) -> bool:
        """True: it may start. False: it is held, and `done` will give it back."""
        behind = self._behind
        if key not in behind:
            behind[key] = None
            return True
        held = behind[key]
        if held is None:
            held = behind[key] = deque()
        held.append(record)
        return False

    def done(self, key: SessionKey) -> T | None:
        """The session's run is DONE: the next one that may start, if any."""
        held = self._behind[key]
        if held:
            return held.popleft()
        del self._behind[key]
        return None

    @property
    def held(self) -> int:
        """Records that wait behind their session."""
        return sum(len(held) for held in self._behind.values() if held)
