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
        self._behind: dict[SessionKey, deque[T]] = {}

    def admit(self, key: SessionKey, record: T) -> bool:
        """True: it may start. False: it is held, and `done` will give it back."""
        held = self._behind.get(key)
        if held is None:
            self._behind[key] = deque()
            return True
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
        return sum(map(len, self._behind.values()))
