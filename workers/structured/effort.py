"""Whether an answer is judged by a JSON schema quickly for sure: then in place, else in the child. Pure.

A schema of 2 KB whose references double forty times takes hours, one with a regex as long as it likes, and the loop that
judges it answers nobody meanwhile.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from workers.structured.structure import Kind, Structure

#: Longest definition that is checked in place, in characters: some 0.1 s.
IN_PLACE_CHARS_MAX: Final = 16 * 1024
#: Objects and lists of a schema, every reference followed, and the data in them.
NODES_MAX: Final = 2_000
#: Data that counts as one more of them. An `enum` is written out whole for each value that is not in it (seen: 19 s).
CHARS_A_NODE: Final = 16
ITEMS_A_NODE: Final = 4
#: Nodes times characters of the answer: under a second.
STEPS_MAX: Final = 200_000
#: Keywords whose cost does not follow from the size: regexes, comparisons of all with all, what is judged anew on every
#: level, and references that are resolved in other ways than by a path from the root.
DEAR: Final = (
    '"pattern',
    '"uniqueItems"',
    '"unevaluated',
    '"$dynamic',
    '"$recursive',
    '"$anchor"',
    '"$id"',
    '"id":"',
)


def is_long(structure: Structure) -> bool:
    """Whether even to look whether its schema is one takes too long in place."""
    return structure.kind is Kind.JSON and len(structure.text) > IN_PLACE_CHARS_MAX


def is_quick(structure: Structure, answer_chars: int) -> bool:
    """Whether an answer of so many characters may be judged in place."""
    if structure.kind is not Kind.JSON:
        return True
    if is_long(structure) or any(keyword in structure.text for keyword in DEAR):
        return False
    nodes = _nodes(structure.text)
    return nodes is not None and nodes * answer_chars <= STEPS_MAX


@lru_cache(maxsize=256)
def _nodes(text: str) -> int | None:
    """None: more than NODES_MAX, or a reference that leads nowhere."""
    root = msgspec.json.decode(text)
    nodes, left = 0, [root]
    while left:
        place = left.pop()
        below = _below(place)
        nodes += 1 + len(below) // ITEMS_A_NODE
        nodes += sum(len(text) // CHARS_A_NODE for text in below if isinstance(text, str))
        if nodes > NODES_MAX:
            return None
        if isinstance(place, dict):
            reference = place.get("$ref")
            if isinstance(reference, str):
                target = _target(root, reference)
                if target is None:
                    return None
                left.append(target)
        left += [inner for inner in below if isinstance(inner, (dict, list))]
    return nodes


def _below(place: Any) -> list[Any]:
    if isinstance(place, dict):
        return list(place.values())
    return place if isinstance(place, list) else []


def _target(root: Any, reference: str) -> Any:
    """What `#/a/b` leads to (RFC 6901, as a fragment); None: nothing in this schema."""
    if not reference.startswith("#"):
        return None
    place = root
    for step in unquote(reference[1:]).split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(place, list) and name.isdecimal() and len(name) < 9:
            place = place[int(name)] if int(name) < len(place) else None
        else:
            place = place.get(name) if isinstance(place, dict) else None
        if place is None:
            return None
    return place
