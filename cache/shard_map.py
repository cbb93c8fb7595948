"""The shard map: which partition a hash belongs to. Slices cover the 64-bit key space once.

The value of `headrace.shards` (key = endpoint). Readers accept only a higher version.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Final, NamedTuple

import msgspec

from cache.errors import BadShardMap

KEYS: Final = 2**64
#: 64 slices per worker, with the usual four partitions per worker.
SLICES_PER_PARTITION: Final = 16
#: A map's value stays far below a record's size.
SLICES_MAX: Final = 100_000
#: Spreads the sessions of a slice with several partitions: 2^64 / golden ratio (Knuth, multiplicative hashing).
_SPREAD: Final = 0x9E3779B97F4A7C15


class Slice(NamedTuple):
    """Hashes from `start` up to the next slice's start. Several partitions: a session picks one by a second hash."""

    start: int
    partitions: tuple[int, ...]


class Placed(NamedTuple):
    """Where a hash goes."""

    slice: int
    partition: int


@dataclass(frozen=True)
class ShardMap:
    """One endpoint's map."""

    version: int
    slices: tuple[Slice, ...]
    #: Hashes of prefixes that too many sessions share: their keys take another block.
    extend: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem is not None:
            raise BadShardMap(problem)

    def place(self, hash_: int) -> Placed:
        """The slice (its place in `slices`) and partition of a hash, 0 to 2^64 - 1."""
        choices = self._choices[bisect_right(self._starts, hash_) - 1]
        if len(choices) == 1:
            return choices[0]
        return choices[(hash_ * _SPREAD % KEYS >> 32) % len(choices)]

    @property
    def partitions_count(self) -> int:
        """The number of partitions that the map needs: its highest plus one."""
        return 1 + max(max(part.partitions) for part in self.slices)

    @cached_property
    def _starts(self) -> list[int]:
        return [part.start for part in self.slices]

    @cached_property
    def _choices(self) -> list[tuple[Placed, ...]]:
        """Made once: a record costs a look-up."""
        return [
            tuple(Placed(index, partition) for partition in part.partitions)
            for index, part in enumerate(self.slices)
        ]


def uniform(partitions: int, version: int = 1) -> ShardMap:
    """Equal slices, each partition with equally many; ValueError for no partitions."""
    if partitions < 1:
        raise ValueError(f"{partitions} partitions; at least one is needed")
    count = partitions * SLICES_PER_PARTITION
    slices = tuple(Slice(index * KEYS // count, (index // SLICES_PER_PARTITION,)) for index in range(count))
    return ShardMap(version, slices)


def encode_map(shard_map: ShardMap) -> bytes:
    """JSON with a checksum; hashes as 16 hexadecimal digits (JSON numbers lose 64-bit integers in many readers)."""
    content = _content(shard_map)
    return msgspec.json.encode({**content, "checksum": _checksum(content)})


def decode_map(value: bytes) -> ShardMap:
    """Read a map back; BadShardMap says what is wrong with it."""
    try:
        written = msgspec.json.decode(value, type=_Written)
        shard_map = ShardMap(
            written.version,
            tuple(Slice(int(part.start, 16), tuple(part.partitions)) for part in written.slices),
            frozenset(int(prefix, 16) for prefix in written.extend),
        )
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise BadShardMap(f"not a shard map: {error}") from error
    if _checksum(_content(shard_map)) != written.checksum:
        raise BadShardMap("the checksum does not fit the map")
    return shard_map


class _WrittenSlice(msgspec.Struct):
    start: str
    partitions: list[int]


class _Written(msgspec.Struct):
    version: int
    slices: list[_WrittenSlice]
    extend: list[str]
    checksum: str


def _content(shard_map: ShardMap) -> dict[str, Any]:
    return {
        "version": shard_map.version,
        "slices": [{"start": _hex(part.start), "partitions": part.partitions} for part in shard_map.slices],
        "extend": [_hex(prefix) for prefix in sorted(shard_map.extend)],
    }


def _checksum(content: dict[str, Any]) -> str:
    return blake2b(msgspec.json.encode(content), digest_size=8).hexdigest()


def _hex(number: int) -> str:
    return f"{number:016x}"


def _problem(shard_map: ShardMap) -> str | None:
    starts = [part.start for part in shard_map.slices]
    if not 1 <= len(starts) <= SLICES_MAX:
        return f"{len(starts)} slices; 1 to {SLICES_MAX} are right"
    if starts[0] != 0 or starts[-1] >= KEYS or any(a >= b for a, b in pairwise(starts)):
        return "slices must start at 0 and rise to less than 2^64"
    if shard_map.version < 1:
        return f"version {shard_map.version}; the first is 1"
    if not all(part.partitions and min(part.partitions) >= 0 for part in shard_map.slices):
        return "each slice needs partitions of 0 or more"
    if not all(0 <= prefix < KEYS for prefix in shard_map.extend):
        return "the extend set holds hashes from 0 to 2^64 - 1"
    return None
