"""The fields of tools, of the choice among them, and of calls in a chat's history."""

from __future__ import annotations

from typing import Final

from schemas.fields.level import Level, honoured, named, refused

_FUNCTION_ONLY: Final = refused("tools are functions; give one with JSON parameters")
_TYPE: Final = honoured('"function"')

TOOL: Final = Level(
    "tool",
    {
        "type": _TYPE,
        "function": honoured('an object {"name", "description", "parameters"}'),
        "defer_loading": honoured("true or false"),
        "custom": _FUNCTION_ONLY,
    },
)
FUNCTION: Final = Level(
    "function",
    {
        "name": honoured("non-empty text"),
        "description": honoured("text"),
        "parameters": honoured("a JSON schema; its own fields are read by the engine"),
        "strict": honoured("true or false"),
        "defer_loading": honoured("true or false"),
    },
)
TOOL_CHOICE: Final = Level(
    "tool_choice",
    {
        "type": _TYPE,
        "function": honoured('an object {"name"}'),
        "custom": _FUNCTION_ONLY,
        "allowed_tools": refused("give only those tools, with tool_choice auto or required"),
    },
)
CHOSEN_FUNCTION: Final = Level("tool_choice.function", {"name": honoured("text: one of the tools")})
TOOL_CALL: Final = Level(
    "tool call",
    {
        "id": honoured("text"),
        "type": _TYPE,
        "function": honoured('an object {"name", "arguments"}'),
        "index": named("the place in the list says it"),
        "custom": _FUNCTION_ONLY,
    },
)
CALLED_FUNCTION: Final = Level(
    "tool call's function",
    {"name": honoured("text"), "arguments": honoured("JSON text of an object, an object, or null")},
)
