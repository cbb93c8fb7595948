"""A record that the client cannot give whole, and a log that holds nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from schemas.headers import Headers
from stream.log.base import Partition, Polled, Record
from stream.log.memory.log import MemoryLog
from stream.log.memory.reader import MemoryReader


class Unreadable:
    """A record with a header whose name is not UTF-8, as confluent_kafka.Message gives it."""

    def __init__(self, topic: str = "t", partition: int = 1, offset: int = 7) -> None:
        self._place = Partition(topic, partition)
        self._offset = offset

    def topic(self) -> str:
        return self._place.topic

    def partition(self) -> int:
        return self._place.partition

    def offset(self) -> int:
        return self._offset

    def key(self) -> bytes | None:
        return b"k"

    def value(self) -> bytes | None:
        return b'{"a": 1}'

    def headers(self) -> Headers | None:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    def timestamp(self) -> tuple[int, int]:
        return 1, 5

    def leader_epoch(self) -> int | None:
        return None


class UnreadableLog(MemoryLog):
    """Whatever is read of it is that record."""

    def reader(
        self, begin: Sequence[str] | Mapping[Partition, int], *, careful: bool = False
    ) -> MemoryReader:
        return _Reader()


class _Reader(MemoryReader):
    def __init__(self) -> None:
        """Nothing is there to begin with."""

    def poll(self, records_max: int, timeout_s: float) -> Polled:
        return Polled([Unreadable()], ())

    def to_end(self, timeout_s: float) -> Iterator[Record]:
        yield Unreadable()

    def close(self) -> None:
        """Nothing is held."""
