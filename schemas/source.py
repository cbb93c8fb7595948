"""Where a record came from: the proof key of everything that is written about it."""

from __future__ import annotations

from typing import Final, NamedTuple

#: 32 and 64 bits as digits, and a slash.
PLACE_CHARS_MAX: Final = 10 + 19 + 1


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
        topic, _, place = text.partition("/")
        partition, _, offset = place.partition("/")
        if (
            topic
            and partition.isdigit()
            and offset.isdigit()
            and len(place) <= PLACE_CHARS_MAX
            and text.isascii()
        ):
            return cls(topic, int(partition), int(offset))
        raise ValueError(f"{text!r:.100} is not topic/partition/offset")
