"""What is wrong with a configuration file: all of it, each with its line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from stream.config.toml_lines import Path
from stream.errors import ConfigError


class Findings:
    """Collects `file:line: what`; raises them together, in the order of the file."""

    def __init__(self, file: str, lines: Mapping[Path, int]) -> None:
        self._file = file
        self._lines = lines
        self._found: list[tuple[int, str]] = []

    def add(self, path: Path, what: str) -> None:
        """`what` about the key at `path`; a key that is missing is placed at the table it should stand in."""
        self._found.append((self._line(path), what))

    def stands(self, path: Path) -> bool:
        """Whether the file has this key."""
        return path in self._lines

    def raise_any(self) -> None:
        """ConfigError with one line a finding, when there are any."""
        if self._found:
            ordered = sorted(set(self._found))
            raise ConfigError("\n".join(f"{self._file}:{line}: {what}" for line, what in ordered))

    def _line(self, path: Path) -> int:
        for depth in range(len(path), 0, -1):
            line = self._lines.get(path[:depth])
            if line is not None:
                return line
        return 1


def nearest(name: str, names: Iterable[str]) -> str:
    """`, did you mean "x"?` with the most similar right name, else the names there are."""
    known = sorted(names)
    close = get_close_matches(name, known, n=1)
    if close:
        return f', did you mean "{close[0]}"?'
    return f"; there are: {', '.join(known)}" if known else ""
