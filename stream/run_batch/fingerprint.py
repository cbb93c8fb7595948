"""What tells whether an input file is still the one that the batch began with."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Final

import msgspec

from stream.errors import UsageError

_PIECE_BYTES: Final = 1024 * 1024


class Fingerprint(msgspec.Struct, frozen=True):
    """Size and hash of a file."""

    bytes: int
    blake2b: str


def fingerprint(path: Path) -> Fingerprint:
    """One pass over the file with bounded memory; UsageError where it cannot be read."""
    found, size = blake2b(digest_size=16), 0
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE_BYTES):
                found.update(piece)
                size += len(piece)
    except OSError as wrong:
        raise UsageError(f"{path} cannot be read: {wrong.strerror}") from wrong
    return Fingerprint(size, found.hexdigest())
