"""The body of an offset map: which offsets of `[base, hi]` are incomplete, as a bitmap or as delta varints.

Delta varints: for each incomplete offset the number of offsets passed over since the one before it (the first:
since `base`), LEB128. Bitmap: bit i (least significant first) of byte i // 8 stands for `base + i`; 1 = incomplete.
Decoders raise ValueError for anything that their encoder would not have written.
"""

from __future__ import annotations

from collections.abc import Sequence


def encode_deltas(base: int, incomplete: Sequence[int]) -> bytes:
    """`incomplete` ascending, all >= `base`."""
    body = bytearray()
    expected = base
    for offset in incomplete:
        passed = offset - expected
        while passed > 0x7F:
            body.append(passed & 0x7F | 0x80)
            passed >>= 7
        body.append(passed)
        expected = offset + 1
    return bytes(body)


def decode_deltas(base: int, hi: int, body: bytes) -> list[int]:
    """The incomplete offsets, ascending."""
    incomplete: list[int] = []
    expected, passed, shift = base, 0, 0
    for byte in body:
        passed |= (byte & 0x7F) << shift
        if byte & 0x80:
            shift += 7
            continue
        if shift and not byte:
            raise ValueError("a varint is longer than it need be")
        offset = expected + passed
        if offset > hi:
            raise ValueError(f"offset {offset} lies above hi {hi}")
        incomplete.append(offset)
        expected, passed, shift = offset + 1, 0, 0
    if shift:
        raise ValueError("the last varint is cut")
    return incomplete


def bitmap_bytes(base: int, hi: int) -> int:
    """Size of the bitmap of `[base, hi]`, in bytes."""
    return (hi - base + 8) // 8


def encode_bitmap(base: int, hi: int, incomplete: Sequence[int]) -> bytes:
    body = bytearray(bitmap_bytes(base, hi))
    for offset in incomplete:
        place = offset - base
        body[place >> 3] |= 1 << (place & 7)
    return bytes(body)


def decode_bitmap(base: int, hi: int, body: bytes) -> list[int]:
    """The incomplete offsets, ascending."""
    if len(body) != bitmap_bytes(base, hi):
        raise ValueError(f"a bitmap of {len(body)} bytes, not {bitmap_bytes(base, hi)}")
    bits = int.from_bytes(body, "little")
    if bits >> (hi - base + 1):
        raise ValueError("bits above hi are set")
    return [base + place for place in range(hi - base + 1) if bits >> place & 1]
