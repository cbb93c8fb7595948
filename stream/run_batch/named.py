"""Fields of requests that had no effect, or were lowered: a table has no place for them, so they are told at the end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

import msgspec

#: Names that are counted apart; all others are counted as one.
NAMES_MAX: Final = 50
_OTHERS: Final = "others"


class _Named(msgspec.Struct):
    named: list[str] = []


_decode: Final = msgspec.json.Decoder(_Named).decode


def words_of_named(cells: Path) -> str | None:
    """How many rows name each of them; None where none does, or where the output is no table."""
    if not cells.exists():
        return None
    counts: Counter[str] = Counter()
    with cells.open("rb") as lines:
        for line in lines:
            counts.update(
                name if name in counts or len(counts) < NAMES_MAX else _OTHERS for name in _decode(line).named
            )
    if not counts:
        return None
    told = ", ".join(f"{name} ({count:,})" for name, count in counts.most_common())
    return f"fields without their effect, and the rows that have them (a .jsonl output names them by row): {told}"
