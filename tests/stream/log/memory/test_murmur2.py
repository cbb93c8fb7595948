"""Keys hash as in Kafka's own clients."""

from __future__ import annotations

import pytest

from stream.log.memory.murmur2 import murmur2, partition_of

#: From the tests of Kafka's Java client.
KNOWN = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize("key", KNOWN)
def test_hashes_are_the_known_ones(key: bytes) -> None:
    assert murmur2(key) == KNOWN[key] & 0xFFFFFFFF


def test_partitions_are_in_range() -> None:
    assert {partition_of(b"%d" % number, 7) for number in range(200)} == set(range(7))
