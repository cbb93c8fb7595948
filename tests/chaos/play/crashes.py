"""Ends by an error that is ours: a role tells a failure in one line, only a programmer's error leaves a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

HEAD: Final = "Traceback (most recent call last):"


def crashes(logs: Path) -> list[str]:
    """One text for each traceback in the folder's logs: whose, and its last line. A restart heals it, and hides it."""
    return [text for log in sorted(logs.glob("*.log")) for text in _ends(log)]


def _ends(log: Path) -> Iterator[str]:
    """The line that ends a traceback is the first one after it that is not indented."""
    inside = False
    for line in log.read_text(errors="replace").splitlines():
        if line.strip() == HEAD:
            inside = True
        elif inside and line and not line.startswith(" "):
            inside = False
            yield f"{log.stem}: {line}"
