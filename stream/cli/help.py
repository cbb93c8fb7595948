"""The commands as `headrace --help` shows them: in groups, one line each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from stream.cli.registry import Command

GROUPS: Final = (
    ("Start, watch and stop", ("demo", "up", "status", "logs", "down")),
    ("Records in and out", ("run-batch", "produce", "consume", "find", "dead-letters", "quarantine")),
    ("Before it starts", ("config", "topics")),
    ("One role a machine", ("dispatcher", "worker")),
)


def grouped(commands: Mapping[str, Command]) -> str:
    """All of them; those that no group names come last."""
    named = {name for _, names in GROUPS for name in names}
    rest = tuple(name for name in commands if name not in named)
    width = max(map(len, commands))
    sections = []
    for title, names in (*GROUPS, ("More", rest)):
        lines = [f"  {name:{width}}  {commands[name].purpose}" for name in names if name in commands]
        if lines:
            sections.append("\n".join([f"{title}:", *lines]))
    return "\n\n".join(sections)
