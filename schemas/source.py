"""Where a record came from: the proof key of everything that is written about it."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

#: 32 and 64 bits as digits.
PARTITION_CHARS_MAX: Final = 10
OFFSET_CHARS_MAX: Final = 19


class Source(NamedTuple):
    """The position of an **input** record; written ``topic/partition/offset`` at every hop."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        topic, partition, offset = self
        return f"{topic}/{partition}/{offset}"

    @classmethod
    def parse(cls, text: str) -> Source:
        """Read ``topic/partition/offset``; ValueError says what is wrong with it."""
        origin, _, offset = text.rpartition("/")
        place = _place(origin)
        if place is not None and offset.isdigit() and offset.isascii() and len(offset) <= OFFSET_CHARS_MAX:
            return cls(*place, int(offset))
        raise ValueError(f"{text!r:.100} is not topic/partition/offset")


@lru_cache(maxsize=4_096)
def _place(text: str) -> tuple[str, int] | None:
    """topic/partition, the same for many records; None where it is not that."""
    topic, _, partition = text.partition("/")
    if topic and partition.isdigit() and text.isascii() and len(partition) <= PARTITION_CHARS_MAX:
        return topic, int(partition)
    return None
