"""A clock that the test moves."""

from __future__ import annotations


class Clock:
    """Seconds since nothing in particular."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s
