"""The messages of a chat: what each role may hold, and what it must."""

from __future__ import annotations

from typing import Final

import msgspec

from schemas.bodies import WholeMessage
from schemas.checks.parts import check_parts
from schemas.checks.tools import check_calls, check_tools
from schemas.errors import BadRecord
from schemas.fields.ignored import Ignored
from schemas.fields.messages import MESSAGE_OF
from schemas.request import Message

#: Fields that a role does not have.
_FOREIGN: Final = {
    (kind, role): tuple(name for name in kind.__struct_fields__ if name not in level.honoured)
    for kind in (Message, WholeMessage)
    for role, level in MESSAGE_OF.items()
}


def check_messages(messages: list[Message], found: Ignored) -> None:
    """What has no effect is taken out of the list. Nearly every message is a role and a text."""
    for place, message in enumerate(messages):
        if (
            message.content.__class__ is not str
            or message.tool_calls is not None
            or message.tool_call_id is not None
            or message.__class__ is WholeMessage
        ):
            messages[place] = _checked(message, f"$.body.messages[{place}]", found)


def _checked(message: Message, where: str, found: Ignored) -> Message:
    if message.role == "user" and message.content != "" and not message.content:
        raise BadRecord.invalid(
            f"{where}.content: missing; right is {MESSAGE_OF['user'].fields['content'].words}"
        )
    kept = _of_its_role(message, where, found)
    if isinstance(kept.content, list):
        check_parts(kept.content, f"{where}.content", found)
    if kept.tool_calls is not None:
        check_calls(kept.tool_calls, f"{where}.tool_calls", found)
    if isinstance(kept, WholeMessage) and kept.tools is not None:
        check_tools(kept.tools, f"{where}.tools", found)
    return kept


def _of_its_role(message: Message, where: str, found: Ignored) -> Message:
    foreign = [
        name for name in _FOREIGN[message.__class__, message.role] if getattr(message, name) is not None
    ]
    if not foreign:
        return message
    for name in foreign:
        found.judge(MESSAGE_OF[message.role], name, getattr(message, name), where)
    return msgspec.structs.replace(message, **dict.fromkeys(foreign))
