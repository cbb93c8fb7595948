"""Order inside a partition: the outputs of a session go in the order of delivery; its runs too, where it is `serial`."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")

#: (tenant, session): equal ids of two tenants never meet.
SessionKey = tuple[str, str]


class SessionOrder(Generic[T]):
    """Who of a session comes first. A record without a session never waits.

    Finished records wait here until all their elders have finished. With `serial` the later ones do not even start.
    """

    def __init__(self, *, serial: bool = False) -> None:
        self.serial = serial
        self._first: dict[SessionKey, T] = {}
        #: The others of a session, in their order; no entry where nobody waits, as is usual.
        self._behind: dict[SessionKey, deque[T]] = {}
        #: Of those behind: finished, with the bytes of their outputs.
        self._finished: dict[T, int] = {}
        self.finished_bytes = 0

    def admit(self, key: SessionKey, record: T) -> bool:
        """True: it may start. False: `first` will be this one when its turn has come."""
        if key not in self._first:
            self._first[key] = record
            return True
        behind = self._behind.get(key)
        if behind is None:
            behind = self._behind[key] = deque()
        behind.append(record)
        return not self.serial

    def is_first(self, key: SessionKey, record: T) -> bool:
        """All its elders have finished."""
        return self._first.get(key) is record

    def first(self, key: SessionKey) -> T | None:
        """The oldest that has not finished, if any."""
        return self._first.get(key)

    def finish(self, key: SessionKey, record: T, output_bytes: int) -> list[T]:
        """The records whose outputs may go now, in this order: none, while an elder has not finished."""
        if self._first[key] is not record:
            self._finished[record] = output_bytes
            self.finished_bytes += output_bytes
            return []
        behind = self._behind.get(key)
        if behind is None:
            del self._first[key]
            return [record]
        return [record, *self._follow(key, behind)]

    def _follow(self, key: SessionKey, behind: deque[T]) -> list[T]:
        """Those behind that have finished already; the next one becomes the first."""
        following: list[T] = []
        while behind and behind[0] in self._finished:
            self.finished_bytes -= self._finished.pop(behind[0])
            following.append(behind.popleft())
        if behind:
            self._first[key] = behind.popleft()
        else:
            del self._first[key]
        if not behind:
            del self._behind[key]
        return following

    @property
    def finished(self) -> int:
        """Records that have finished and wait for an elder."""
        return len(self._finished)
