"""One table of the file while it is read: keys are taken out by rules, what is left over is unknown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TypeVar

from stream.config.findings import Findings, nearest
from stream.config.rules import Rule
from stream.config.toml_lines import Path

T = TypeVar("T")


class Table:
    """Reads the keys of one table; findings go to their collector, and a wrong value counts as its default."""

    def __init__(self, values: Mapping[str, object], path: Path, findings: Findings) -> None:
        self._values = values
        self._findings = findings
        self._known: set[str] = set()
        self.path = path

    def take(self, key: str, rule: Rule[T], default: T) -> T:
        """The value of `key`, or `default` where it is absent or wrong."""
        self._known.add(key)
        if key not in self._values:
            return default
        try:
            return rule(self._values[key])
        except ValueError as wrong:
            self.wrong(key, str(wrong))
            return default

    def has(self, key: str) -> bool:
        return key in self._values

    def wrong(self, key: str, what: str) -> None:
        """A finding about one key."""
        self._findings.add((*self.path, key), f'"{key}"{self._where()} {what}')

    def below(self, key: str) -> Table:
        """The table under `key`; empty where it is absent or no table."""
        self._known.add(key)
        values = self._values.get(key, {})
        if not isinstance(values, dict):
            self.wrong(key, "must be a table")
            values = {}
        return Table(values, (*self.path, key), self._findings)

    def each(self) -> Iterator[tuple[str, Table]]:
        """Every key as a table of its own, as in `[endpoints.NAME]`."""
        for key in self._values:
            yield key, self.below(key)

    def each_value(self) -> Iterator[tuple[str, object]]:
        """Every key with its value as it stands."""
        yield from self._values.items()

    def close(self, later: Collection[str] = ()) -> None:
        """Report what nobody took; `later` are keys of features to come."""
        for key in self._values:
            if key in later:
                self.wrong(key, "is not in this version")
            elif key not in self._known:
                what = f'unknown key "{key}"{self._where()}{nearest(key, self._known)}'
                self._findings.add((*self.path, key), what)

    def _where(self) -> str:
        return f" in [{'.'.join(self.path)}]" if self.path else ""
