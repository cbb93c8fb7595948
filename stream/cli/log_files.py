"""The logs of an installation: which files there are, their ends, and what is added to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

#: Looked at for the last lines; a log is set aside at 64 MiB.
TAIL_BYTES_MAX: Final = 1024 * 1024


def chosen(files: Sequence[Path], name: str | None) -> list[Path]:
    """Those of this process or role; all without a name. Sorted."""
    return sorted(
        file for file in files if name is None or file.stem == name or file.stem.startswith(f"{name}-")
    )


class Tail:
    """One file while it is read: its last lines first, then what comes."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._place = 0
        self._inode = 0
        self._rest = b""

    def last(self, lines_max: int) -> list[str]:
        """At most so many whole lines; reading goes on behind them."""
        with self.file.open("rb") as log:
            size = log.seek(0, 2)
            begin = max(0, size - TAIL_BYTES_MAX)
            log.seek(begin)
            content = log.read(size - begin)
        self._place, self._inode = size, self.file.stat().st_ino
        if begin:
            content = content.partition(b"\n")[2]
        whole, _, self._rest = content.rpartition(b"\n")
        lines = whole.decode(errors="replace").splitlines()
        return lines[-lines_max:] if lines_max else []

    def more(self) -> Iterator[str]:
        """Lines that were added since. A file that was set aside is read from its new beginning."""
        try:
            found = self.file.stat()
        except FileNotFoundError:
            return
        if found.st_ino != self._inode or found.st_size < self._place:
            self._place, self._inode, self._rest = 0, found.st_ino, b""
        with self.file.open("rb") as log:
            log.seek(self._place)
            content = log.read(TAIL_BYTES_MAX)
        self._place += len(content)
        whole, newline, rest = (self._rest + content).rpartition(b"\n")
        self._rest = rest
        if newline:
            yield from whole.decode(errors="replace").splitlines()
