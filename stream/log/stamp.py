"""Reads what `consumer_group_metadata()` carries: the generation and the member id that fence a zombie.

Layout (librdkafka): `CGMDv2:`, int32 in the machine's byte order, then group, member and instance id, each ended by
a NUL, with a byte before the instance id that is 1 where there is none.
"""

from __future__ import annotations

import struct
from typing import Final

from stream.errors import LogError

_MAGIC: Final = b"CGMDv2:"


def nobodys_stamp(group: str) -> bytes:
    """In the client's own form, for a consumer that is no member: generation -1, no member id, no instance."""
    return _MAGIC + struct.pack("=i", -1) + group.encode() + b"\0\0\1"


def parse_stamp(metadata: bytes) -> tuple[int, str]:
    """(generation, member id); LogError when it is not the layout we know, for then nothing can be fenced."""
    head = len(_MAGIC) + 4
    pieces = metadata[head:].split(b"\0")
    if not metadata.startswith(_MAGIC) or len(metadata) < head or len(pieces) < 3:
        raise LogError(f"group metadata {metadata[:16]!r}… is not {_MAGIC!r}: this client is not supported")
    (generation,) = struct.unpack("=i", metadata[len(_MAGIC) : head])
    return generation, pieces[1].decode()
