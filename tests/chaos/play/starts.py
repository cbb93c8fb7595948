"""Which records' engine calls workers began, as their journals tell (workers/journal.py): a short run fills one segment."""

from __future__ import annotations

from pathlib import Path

from schemas.source import Source


def starts(state_dir: Path) -> dict[Path, list[Source]]:
    """Journal -> its starts, oldest first; a record that ran again stands there again."""
    return {
        path: [Source.parse(line.lstrip("*")) for line in path.read_text().splitlines()]
        for path in sorted((state_dir / "journal").glob("*.starts"))
    }


def began_since(state_dir: Path, before: dict[Path, list[Source]]) -> list[Source]:
    """The starts since `before`."""
    now = starts(state_dir)
    return [source for path in now for source in now[path][len(before.get(path, [])) :]]
