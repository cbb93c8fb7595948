"""Where a record came from: the proof key of everything that is written about it."""

from __future__ import annotations

from typing import NamedTuple


class Source(NamedTuple):
    """The position of an **input** record; written ``topic/partition/offset`` at every hop."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}/{self.partition}/{self.offset}"

    @classmethod
    def parse(cls, text: str) -> Source:
        """Read ``topic/partition/offset``; ValueError says what is wrong with it."""
        pieces = text.rsplit("/", 2)
        if len(pieces) != 3 or not pieces[0]:
            raise ValueError(f"{text!r} is not topic/partition/offset")
        return cls(pieces[0], int(pieces[1]), int(pieces[2]))
