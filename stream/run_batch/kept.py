"""A file that has all that a state says of it, and is written on from there."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Final

from stream.errors import UsageError

_WHAT_TO_DO: Final = "put it back as it was, or start over with --fresh"
_BUFFER_BYTES: Final = 8 * 1024


def check_there(path: Path) -> None:
    """UsageError where a file that a batch wrote is gone."""
    if not path.is_file():
        raise UsageError(f"{path} is gone, and the batch has written it: {_WHAT_TO_DO}")


def check_kept(path: Path, size: int, *, whole_lines: bool = True) -> None:
    """UsageError where a file of `size` bytes is gone, or shorter, or does not end a line there."""
    if size == 0:
        return
    check_there(path)
    with path.open("rb") as file:
        found = file.seek(0, 2)
        if found < size:
            raise UsageError(
                f"{path} has {found:,} bytes where the batch has written {size:,}: {_WHAT_TO_DO}"
            )
        file.seek(size - 1)
        if whole_lines and file.read(1) != b"\n":
            raise UsageError(f"{path} is not what the batch has written: {_WHAT_TO_DO}")


def open_kept(path: Path, size: int, buffer_bytes: int = _BUFFER_BYTES) -> BinaryIO:
    """At its first `size` bytes; what is beyond them goes. UsageError where they are not there."""
    check_kept(path, size)
    file = path.open("r+b" if path.exists() else "w+b", buffering=buffer_bytes)
    file.truncate(size)
    file.seek(size)
    return file
