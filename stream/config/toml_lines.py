"""Which line of a TOML file says what: the standard parser gives values without places."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

Path = tuple[str, ...]


def lines_of_keys(text: str) -> dict[Path, int]:
    """Every key path of a file that parses -> its first line, counted from 1.

    Statement by statement: lines are added until the standard parser takes them as a whole.
    """
    places: dict[Path, int] = {}
    table: Path = ()
    for line, statement in _statements(text):
        tree = tomllib.loads(statement)
        if statement.lstrip().startswith("["):
            table = max(_paths(tree, ()), key=len)
            paths: Iterator[Path] = (table[:depth] for depth in range(1, len(table) + 1))
        else:
            paths = _paths(tree, table)
        for path in paths:
            places.setdefault(path, line)
    return places


def _statements(text: str) -> Iterator[tuple[int, str]]:
    pending = ""
    first = 1
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if not pending:
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            first = number
        pending += line
        if _whole(pending):
            yield first, pending
            pending = ""


def _whole(statement: str) -> bool:
    try:
        tomllib.loads(statement)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _paths(tree: object, above: Path) -> Iterator[Path]:
    if isinstance(tree, list):
        for item in tree:
            yield from _paths(item, above)
    elif isinstance(tree, dict):
        for name, below in tree.items():
            yield (*above, name)
            yield from _paths(below, (*above, name))
