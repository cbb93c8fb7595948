"""What to do about a right that is missing, in words for an operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Resource = Literal["topic", "group", "transactional-id"]


def how_to_allow(resource: Resource, name: str, operations: Sequence[str]) -> str:
    """`resource` as kafka-acls has it."""
    wanted = " ".join(f"--operation {operation}" for operation in operations)
    return (
        f"no right to {' and '.join(operations)} on {resource} {name}: allow it with kafka-acls --add "
        f"--allow-principal User:… --{resource} {name} {wanted} "
        "(a rule that denies it wins; `headrace topics` prints every right that is needed)"
    )
