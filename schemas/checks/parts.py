"""Content parts of a message: those of text are taken, others are refused by their type."""

from __future__ import annotations

from typing import Any

from schemas.errors import BadRecord
from schemas.fields.ignored import Ignored
from schemas.fields.messages import PART_OF, REFUSED_PARTS, TEXT_FIELD_OF

RIGHT = 'right is {"type": "text", "text": …}'


def check_parts(parts: list[Any], where: str, found: Ignored) -> None:
    """`where`: the path of the content."""
    for place, part in enumerate(parts):
        if not isinstance(part, str):
            _check_part(part, f"{where}[{place}]", found)


def part_text(part: str | dict[str, Any]) -> str:
    """The text of a part that was checked."""
    if isinstance(part, str):
        return part
    text: str = part[TEXT_FIELD_OF[part["type"]]]
    return text


def _check_part(part: dict[str, Any], where: str, found: Ignored) -> None:
    kind = part.get("type")
    level = PART_OF.get(kind) if isinstance(kind, str) else None
    for name in (kind, *part):
        if isinstance(name, str) and name in REFUSED_PARTS:
            raise BadRecord.invalid(f"{where}: {name} is not a text part; {REFUSED_PARTS[name]}")
    if level is None:
        raise BadRecord.invalid(f"{where}: not a text part; {RIGHT}")
    field = TEXT_FIELD_OF[str(kind)]
    if not isinstance(part.get(field), str):
        raise BadRecord.invalid(f'{where}: not a text part; right is {{"type": "{kind}", "{field}": …}}')
    found.sift(level, part, where)
