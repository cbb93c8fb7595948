"""Tools, the choice among them, and the calls of tools in a chat's history."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from schemas.errors import BadRecord
from schemas.fields.bodies import CHAT
from schemas.fields.ignored import Ignored
from schemas.fields.level import Level
from schemas.fields.tools import (
    CALLED_FUNCTION,
    CHOSEN_FUNCTION,
    FUNCTION,
    TOOL,
    TOOL_CALL,
    TOOL_CHOICE,
)

_CHOICES: Final = ("none", "auto", "required")
_WORDS: Final = CHAT.fields["tool_choice"].words
_NOTHING: Final = type(None)
#: Field -> the types it may have.
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "description": (str, _NOTHING),
    "parameters": (dict, _NOTHING),
    "strict": (bool, _NOTHING),
    "defer_loading": (bool, _NOTHING),
    "id": (str, _NOTHING),
    "arguments": (str, dict, _NOTHING),
}


def check_tools(tools: list[dict[str, Any]], where: str, found: Ignored) -> None:
    for place, tool in enumerate(tools):
        _check_function(tool, TOOL, FUNCTION, f"{where}[{place}]", found)


def check_calls(calls: list[dict[str, Any]], where: str, found: Ignored) -> None:
    for place, call in enumerate(calls):
        _check_function(call, TOOL_CALL, CALLED_FUNCTION, f"{where}[{place}]", found)


def check_choice(choice: str | dict[str, Any], tools: list[dict[str, Any]] | None, found: Ignored) -> None:
    """Of tools that were checked."""
    where = "$.body.tool_choice"
    if choice == "none":
        return
    if isinstance(choice, str) and choice not in _CHOICES:
        raise BadRecord.invalid(f"{where}: wrong; right is {CHAT.fields['tool_choice'].words}")
    if isinstance(choice, dict):
        _check_function(choice, TOOL_CHOICE, CHOSEN_FUNCTION, where, found)
    if not tools:
        raise BadRecord.invalid(f"{where}: there is nothing to choose; give tools")
    if isinstance(choice, dict):
        _check_named(choice["function"]["name"], [tool["function"]["name"] for tool in tools])


def _check_named(name: str, names: Collection[str]) -> None:
    if name not in names:
        known = ", ".join(sorted(names))[:200]
        raise BadRecord.invalid(f"$.body.tool_choice.function.name: {name[:80]!r} is no tool; tools: {known}")


def _check_function(holder: dict[str, Any], outer: Level, inner: Level, where: str, found: Ignored) -> None:
    """`{"type": "function", "function": {"name": …}}`."""
    found.sift(outer, holder, where)
    if holder.get("type", "function") != "function":
        raise _wrong(outer, "type", where)
    function = holder.get("function")
    if not isinstance(function, dict):
        raise _wrong(outer, "function", where)
    found.sift(inner, function, f"{where}.function")
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise _wrong(inner, "name", f"{where}.function")
    _check_types(outer, holder, where)
    _check_types(inner, function, f"{where}.function")


def _check_types(level: Level, given: dict[str, Any], where: str) -> None:
    for name, value in given.items():
        if name in _TYPES and not isinstance(value, _TYPES[name]):
            raise _wrong(level, name, where)


def _wrong(level: Level, name: str, where: str) -> BadRecord:
    return BadRecord.invalid(f"{where}.{name}: missing or wrong; right is {level.fields[name].words}")
