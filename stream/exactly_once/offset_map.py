"""The offset map: text stored as offset metadata that says what is done above a committed offset.

    v1:base:hi:mode:deaths:trying:crc:body

`base` is the lowest offset not done, `hi` the highest offset done (`base - 1`: nothing above). `mode` is `b` (bitmap)
or `d` (delta varints), whichever is smaller; `body` the incomplete offsets of `[base, hi]` in RFC 1924 base85, whose
alphabet has no colon. `deaths` counts unclean ends, `trying` names the one record that runs single file (empty:
none). `crc` is the CRC-32 of all other fields. The map is the oracle for an unknown commit: it is read strictly.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Final
from zlib import crc32

from stream.errors import LedgerBroken, MapUnreadable
from stream.exactly_once.map_body import (
    bitmap_bytes,
    decode_bitmap,
    decode_deltas,
    encode_bitmap,
    encode_deltas,
)

#: The broker takes 4096 UTF-16 characters, and the Python binding adds a NUL.
MAP_CHARS_MAX: Final = 4095
#: Deaths are counted so far and no further: the header stays bounded.
DEATHS_MAX: Final = 99_999
#: What is left for the body beside the longest header, in bytes before base85.
BODY_BYTES_MAX: Final = (MAP_CHARS_MAX - 80) * 4 // 5
#: Of it, for the gaps that one poll may add after the span was found to have room: over 100,000 offsets.
POLL_BYTES: Final = 800
#: A span that even one bit an offset cannot justify: guards the decoder against absurd numbers.
BITMAP_SPAN_MAX: Final = 8 * MAP_CHARS_MAX

_FORM: Final = re.compile(
    r"v1:(0|[1-9]\d{0,18}):(0|-1|[1-9]\d{0,18}):([bd]):(0|[1-9]\d{0,4}):(|0|[1-9]\d{0,18}):([0-9a-f]{8}):([!-9;-~]*)",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class OffsetMap:
    """What a partition's committed metadata says."""

    base: int
    #: Highest offset done; `base - 1` where nothing above `base` is.
    hi: int
    #: Offsets of `[base, hi]` that are not done, ascending; it begins with `base` unless it is empty.
    incomplete: tuple[int, ...] = ()
    deaths: int = 0
    trying: int | None = None

    @classmethod
    def empty(cls, base: int) -> OffsetMap:
        """Nothing is done above `base`."""
        return cls(base, base - 1)

    def says_done(self, offset: int) -> bool:
        """The oracle: was `offset` done when this map was committed?"""
        return offset < self.base or (offset <= self.hi and offset not in self.incomplete)


def open_records_bound(span_offsets_max: int) -> int:
    """K: so many incomplete offsets always fit, however they lie.

    An entry takes a byte, and at most one more for each 128 offsets that it passes over: K + SPAN / 128 in all. With
    three bytes an entry, enough for 2 million offsets passed over by each, it fits whatever the span.
    """
    return max(BODY_BYTES_MAX // 3, BODY_BYTES_MAX - POLL_BYTES - span_offsets_max // 128)


def encode(offsets: OffsetMap) -> str:
    """At most MAP_CHARS_MAX characters; LedgerBroken above (K and SPAN did not hold: our bug, never sent)."""
    base, hi, incomplete = offsets.base, offsets.hi, offsets.incomplete
    mode, body = "d", encode_deltas(base, incomplete)
    if bitmap_bytes(base, hi) < len(body):
        mode, body = "b", encode_bitmap(base, hi, incomplete)
    trying = "" if offsets.trying is None else offsets.trying
    head = f"v1:{base}:{hi}:{mode}:{min(offsets.deaths, DEATHS_MAX)}:{trying}"
    tail = base64.b85encode(body).decode("ascii")
    text = f"{head}:{_checksum(head, tail)}:{tail}"
    if len(text) > MAP_CHARS_MAX:
        raise LedgerBroken(f"an offset map of {len(text)} characters, over {MAP_CHARS_MAX}: {head}")
    return text


def decode(metadata: str | None, offset: int, log_end: int) -> OffsetMap:
    """Read the metadata committed with `offset`, of a partition whose log ends before `log_end`.

    Empty metadata means that nothing above `offset` is done (a new group, an operator's reset). MapUnreadable for
    everything that `encode` does not write, and for a map that does not fit the offset or the log.
    """
    offsets = _parse(metadata) if metadata else OffsetMap.empty(offset)
    if offsets.base != offset:
        raise MapUnreadable(f"the map's base is {offsets.base}, the committed offset {offset}")
    if offset > log_end or offsets.hi >= log_end:
        raise MapUnreadable(f"the map reaches {max(offset, offsets.hi)}, the log ends at {log_end}")
    trying = offsets.trying
    if trying is not None and (trying >= log_end or offsets.says_done(trying)):
        raise MapUnreadable(f"trying {trying} is done already, or not in a log that ends at {log_end}")
    return offsets


def _checksum(head: str, tail: str) -> str:
    return f"{crc32(f'{head}:{tail}'.encode('ascii')):08x}"


def _parse(metadata: str) -> OffsetMap:
    match = _FORM.fullmatch(metadata) if len(metadata) <= MAP_CHARS_MAX else None
    if match is None:
        raise MapUnreadable(f"not an offset map of version 1: {metadata[:40]!r}, {len(metadata)} characters")
    base, hi = int(match[1]), int(match[2])
    tail = match[7]
    if _checksum(metadata[: match.start(6) - 1], tail) != match[6]:
        raise MapUnreadable("the checksum of the map does not hold")
    try:
        incomplete = _incomplete(base, hi, match[3], base64.b85decode(tail))
    except ValueError as error:
        raise MapUnreadable(f"the map is not what we write: {error}") from error
    trying = int(match[5]) if match[5] else None
    offsets = OffsetMap(base, hi, incomplete, int(match[4]), trying)
    if encode(offsets) != metadata:
        raise MapUnreadable("the map is not in its one form")
    return offsets


def _incomplete(base: int, hi: int, mode: str, body: bytes) -> tuple[int, ...]:
    if hi < base - 1:
        raise ValueError(f"hi {hi} lies below base {base}")
    if mode == "b" and hi - base >= BITMAP_SPAN_MAX:
        raise ValueError(f"a bitmap from {base} to {hi}")
    found = decode_bitmap(base, hi, body) if mode == "b" else decode_deltas(base, hi, body)
    if hi >= base and (not found or found[0] != base):
        raise ValueError("base itself is marked done")
    if found and found[-1] == hi:
        raise ValueError("hi itself is marked incomplete")
    return tuple(found)
