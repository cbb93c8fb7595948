"""The shard map covers the key space once, in every process the same."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.errors import BadShardMap, CacheError
from cache.shard_map import KEYS, Placed, ShardMap, Slice, decode_map, encode_map, uniform

HASHES = st.integers(0, KEYS - 1)
PARTITIONS = st.lists(st.integers(0, 999), min_size=1, max_size=3, unique=True).map(tuple)


@st.composite
def shard_maps(draw: st.DrawFn) -> ShardMap:
    starts = [0, *sorted(draw(st.sets(st.integers(1, KEYS - 1), max_size=8)))]
    slices = tuple(Slice(start, draw(PARTITIONS)) for start in starts)
    return ShardMap(draw(st.integers(1, 2**40)), slices, draw(st.frozensets(HASHES, max_size=4)))


@given(shard_maps())
def test_it_is_read_back_as_it_was_written(shard_map: ShardMap) -> None:
    assert decode_map(encode_map(shard_map)) == shard_map


@given(shard_maps(), HASHES)
def test_a_hash_falls_into_the_slice_that_holds_it(shard_map: ShardMap, hash_: int) -> None:
    index, partition = shard_map.place(hash_)
    ends = [part.start for part in shard_map.slices[1:]] + [KEYS]
    assert shard_map.slices[index].start <= hash_ < ends[index]
    assert partition in shard_map.slices[index].partitions
    assert shard_map.place(hash_) == (index, partition)
    assert 0 <= partition < shard_map.partitions_count


@given(st.integers(1, 300), st.data())
def test_a_uniform_map_gives_each_partition_the_same_share(partitions: int, data: st.DataObject) -> None:
    shard_map = uniform(partitions)
    assert len(shard_map.slices) == 16 * partitions
    assert set(Counter(part.partitions for part in shard_map.slices).values()) == {16}
    starts = [part.start for part in shard_map.slices]
    widths = {after - before for before, after in zip(starts, [*starts[1:], KEYS], strict=True)}
    assert max(widths) - min(widths) <= 1
    hash_ = data.draw(HASHES)
    assert shard_map.place(hash_).partition == hash_ * partitions // KEYS or max(widths) != min(widths)


def test_the_ends_of_the_key_space_have_their_place() -> None:
    shard_map = uniform(4)
    assert shard_map.place(0) == Placed(0, 0)
    assert shard_map.place(KEYS - 1) == Placed(63, 3)


def test_sessions_of_a_slice_with_several_partitions_spread_and_stay() -> None:
    shard_map = ShardMap(1, (Slice(0, (4, 5, 6)),))
    places = Counter(shard_map.place(index * 0x1234567890ABCDEF % KEYS).partition for index in range(3_000))
    assert set(places) == {4, 5, 6}
    assert min(places.values()) > 800


def test_no_partitions_are_a_programmers_error() -> None:
    with pytest.raises(ValueError, match="at least one"):
        uniform(0)


@pytest.mark.parametrize(
    ("slices", "version", "extend", "message"),
    [
        ((), 1, frozenset(), "0 slices"),
        ((Slice(1, (0,)),), 1, frozenset(), "must start at 0"),
        ((Slice(0, (0,)), Slice(0, (1,))), 1, frozenset(), "rise"),
        ((Slice(0, (0,)), Slice(KEYS, (1,))), 1, frozenset(), "less than 2"),
        ((Slice(0, ()),), 1, frozenset(), "partitions of 0 or more"),
        ((Slice(0, (-1,)),), 1, frozenset(), "partitions of 0 or more"),
        ((Slice(0, (0,)),), 0, frozenset(), "version 0"),
        ((Slice(0, (0,)),), 1, frozenset([KEYS]), "extend set"),
    ],
)
def test_a_map_that_does_not_cover_the_keys_once_is_refused(
    slices: tuple[Slice, ...], version: int, extend: frozenset[int], message: str
) -> None:
    with pytest.raises(BadShardMap, match=message):
        ShardMap(version, slices, extend)


def damaged(**fields: Any) -> bytes:
    return json.dumps({**json.loads(encode_map(uniform(1))), **fields}).encode()


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"{}",
        b"\xff",
        b"[" * 5_000,
        damaged(version=2),
        damaged(slices=[]),
        damaged(slices=[{"start": "x", "partitions": [0]}]),
        damaged(slices=[{"start": "0", "partitions": [0]}]),
        damaged(extend=["zz"]),
        damaged(checksum="00"),
    ],
)
def test_what_is_no_map_or_a_damaged_one_is_refused(value: bytes) -> None:
    with pytest.raises(BadShardMap):
        decode_map(value)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_map_or_refused(value: bytes) -> None:
    with pytest.raises(CacheError):
        decode_map(value)
