"""Files that a command reads and writes are different ones, whatever paths name them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

from stream.errors import UsageError


def refuse_shared(read: Mapping[str, Path], written: Mapping[str, Path], folder: Path) -> None:
    """UsageError where a file that is written is another one too, or one lies in the batch's own folder.

    Links count: symbolic ones on any part of a path, and hard ones.
    """
    for (first, one), (second, other) in combinations([*written.items(), *read.items()], 2):
        if first in written and _same(one, other):
            raise UsageError(
                f"-i, -o, --errors, --body and -c must be different files: {first} {one} and {second} {other} "
                "are the same one"
            )
    own = _resolved(folder)
    for name, path in (*written.items(), *read.items()):
        if _resolved(path).is_relative_to(own):
            raise UsageError(f"{name} {path} lies in {folder}, which is the batch's own folder: take another")


def _same(one: Path, other: Path) -> bool:
    if _resolved(one) == _resolved(other):
        return True
    return one.exists() and other.exists() and one.samefile(other)


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as wrong:
        raise UsageError(f"{path} cannot be followed to a file: {wrong}") from wrong
