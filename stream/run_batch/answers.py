"""Answers as they come: each appended once to its file, and an index on disk of where it stands.

The index has eight bytes a row, in a file mapped into memory: 0, or ((offset + 1) << 1 | failed). So a million rows
take 8 MB, and a successor knows what is there: entries beyond the sizes of its state were written after it, and go.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Final

from stream.run_batch.kept import open_kept
from stream.run_batch.outcome import Outcome
from stream.run_batch.private import open_private
from stream.run_batch.state import Sizes

_ENTRY_BYTES: Final = 8


def index_bytes(rows: int) -> int:
    return max(1, rows) * _ENTRY_BYTES


_BUFFER_BYTES: Final = 1024 * 1024


class Answers:
    """Opened at the sizes of a state; `errors` may be the same file as `answers`."""

    def __init__(self, index: Path, rows: int, answers: Path, errors: Path, sizes: Sizes) -> None:
        self._files = [_Appended(answers, sizes.answers)]
        self._files.append(self._files[0] if errors == answers else _Appended(errors, sizes.errors))
        self._map = _mapped(index, rows)
        self._entries = memoryview(self._map)[: rows * _ENTRY_BYTES].cast("Q")
        #: Rows with an outcome, and those of them that failed.
        self.done = self.failed = 0
        self._keep_known()

    def add(self, outcome: Outcome) -> bool:
        """False where the row has its outcome already, or is none of this input."""
        if not 0 <= outcome.row < len(self._entries) or self._entries[outcome.row]:
            return False
        offset = self._files[outcome.failed].append(outcome.line)
        self._entries[outcome.row] = (offset + 1) << 1 | outcome.failed
        self.done += 1
        self.failed += outcome.failed
        return True

    def at(self, row: int) -> tuple[bool, bytes] | None:
        """(failed, the line with its end); None while the row has no outcome. After `flush` only."""
        entry = self._entries[row]
        return (bool(entry & 1), self._files[entry & 1].line_at((entry >> 1) - 1)) if entry else None

    def flush(self) -> None:
        """Make what was added readable."""
        for file in self._files:
            file.flush()

    def sync(self) -> Sizes:
        """Make it last, and tell how much it is."""
        for file in self._files:
            file.sync()
        self._map.flush()
        return Sizes(self._files[0].size, self._files[1].size)

    def close(self) -> None:
        for file in self._files:
            file.close()
        self._entries.release()
        self._map.close()

    def _keep_known(self) -> None:
        sizes = [file.size for file in self._files]
        for row, entry in enumerate(self._entries):
            if not entry:
                continue
            if (entry >> 1) > sizes[entry & 1]:
                self._entries[row] = 0
            else:
                self.done += 1
                self.failed += entry & 1


class _Appended:
    """A file that grows at its end and is read anywhere."""

    def __init__(self, path: Path, size: int) -> None:
        self._file = open_kept(path, size, _BUFFER_BYTES)
        self._reader = path.open("rb")
        self.size = size

    def append(self, line: bytes) -> int:
        offset = self.size
        self._file.write(line)
        self._file.write(b"\n")
        self.size += len(line) + 1
        return offset

    def line_at(self, offset: int) -> bytes:
        self._reader.seek(offset)
        return self._reader.readline()

    def flush(self) -> None:
        self._file.flush()

    def sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()
        self._reader.close()


def _mapped(path: Path, rows: int) -> mmap.mmap:
    descriptor = open_private(path)
    try:
        os.ftruncate(descriptor, index_bytes(rows))
        return mmap.mmap(descriptor, index_bytes(rows))
    finally:
        os.close(descriptor)
