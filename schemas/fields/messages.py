"""The fields of a message, by its role, and of its content parts, by their type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from schemas.fields.level import Level, honoured, named, refused

_ROLE: Final = honoured("one of system, developer, user, assistant, tool")
_CONTENT: Final = honoured('text, null or a list of {"type": "text", "text": …} parts')
_COMMON: Final = {
    "role": _ROLE,
    "content": _CONTENT,
    "name": honoured("text"),
    "task": honoured("text: a mark that some chat templates read"),
    "tool_calls": named("only an assistant calls tools"),
    "tool_call_id": named("only a tool's message answers a call"),
    "tools": named("only a developer's message brings tools"),
    "reasoning": named("only an assistant reasons"),
    "reasoning_content": named("only an assistant reasons"),
    "refusal": named("only an assistant refuses"),
}

_ASSISTANT: Final = {
    **_COMMON,
    "tool_calls": honoured('a list of {"id", "type": "function", "function": {"name", "arguments"}} objects'),
    "reasoning": honoured("text"),
    "reasoning_content": honoured("text; it is `reasoning` by its older name"),
    "refusal": named("chat templates do not read it; give a part {type: refusal}"),
    "annotations": named("chat templates do not read it"),
    "function_call": refused("give tool_calls"),
    "audio": refused("this version takes text only"),
}

MESSAGE_OF: Final[Mapping[str, Level]] = {
    "system": Level("system message", _COMMON),
    "developer": Level("developer message", {**_COMMON, "tools": honoured("a list of tools")}),
    "user": Level("user message", {**_COMMON, "content": honoured("text, or a list of one or more parts")}),
    "assistant": Level("assistant message", _ASSISTANT),
    "tool": Level("tool message", {**_COMMON, "tool_call_id": honoured("text: the id of the call")}),
}

_TYPE: Final = honoured("text, input_text, output_text, refusal, thinking or tool_reference")
_BREAKPOINT: Final = named("prefixes are cached without being asked")
_TEXT: Final = Level(
    "text part", {"type": _TYPE, "text": honoured("text"), "prompt_cache_breakpoint": _BREAKPOINT}
)
_NO_CLOSED: Final = named("chat templates do not read it")

#: Parts that are taken, by type.
PART_OF: Final[Mapping[str, Level]] = {
    "text": _TEXT,
    "input_text": _TEXT,
    "output_text": _TEXT,
    "refusal": Level("refusal part", {"type": _TYPE, "refusal": honoured("text")}),
    "thinking": Level("thinking part", {"type": _TYPE, "thinking": honoured("text"), "closed": _NO_CLOSED}),
    "tool_reference": Level("tool_reference part", {"type": _TYPE, "name": honoured("text")}),
}
#: The field of a part that holds its text.
TEXT_FIELD_OF: Final[Mapping[str, str]] = {
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "refusal": "refusal",
    "thinking": "thinking",
    "tool_reference": "name",
}
_TEXT_ONLY: Final = "this version takes text only: say in words what it shows, or take the part away"
#: Parts that are refused: by type, or by the field that stands for it.
REFUSED_PARTS: Final[Mapping[str, str]] = {
    "image_url": _TEXT_ONLY,
    "input_image": _TEXT_ONLY,
    "image_embeds": _TEXT_ONLY,
    "image_pil": _TEXT_ONLY,
    "input_audio": _TEXT_ONLY,
    "audio_url": _TEXT_ONLY,
    "audio_embeds": _TEXT_ONLY,
    "video_url": _TEXT_ONLY,
    "video_embeds": _TEXT_ONLY,
    "prompt_embeds": "give the text itself",
    "file": "give the text of the file",
    "input_file": "give the text of the file",
}
