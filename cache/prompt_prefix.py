"""The first bytes of a prompt, in a form that is the same for every turn of a session."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.checks.parts import part_text
from schemas.request import Body, Message

TOKEN_ID_BYTES = 4


def prompt_prefix(body: Body, bytes_max: int) -> bytes:
    """At most `bytes_max` bytes: role and content of each message, or the text, or token ids of four bytes each."""
    if body.messages is not None:
        return _chat(body.messages, bytes_max)
    given = body.prompt if body.prompt is not None else body.input
    if isinstance(given, str):
        return given[:bytes_max].encode()[:bytes_max]
    return _items(given or [], bytes_max)


def _chat(messages: list[Message], bytes_max: int) -> bytes:
    text = ""
    for message in messages:
        content = message.content
        if not isinstance(content, str):
            content = "\n".join(map(part_text, content or ()))
        # A character takes at least a byte: what is cut here would be cut below.
        text += f"{message.role}\n{content[:bytes_max]}\n"
        if len(text) >= bytes_max:
            break
    return text.encode()[:bytes_max]


def _items(items: Sequence[str | int | list[int]], bytes_max: int) -> bytes:
    pieces: list[bytes] = []
    room = bytes_max
    for item in items:
        piece = _item(item, room)
        pieces.append(piece)
        room -= len(piece)
        if room <= 0:
            break
    return b"".join(pieces)[:bytes_max]


def _item(item: str | int | list[int], room: int) -> bytes:
    if isinstance(item, int):
        return item.to_bytes(TOKEN_ID_BYTES, "big")
    if isinstance(item, str):
        return item[:room].encode() + b"\n"
    return b"".join(token.to_bytes(TOKEN_ID_BYTES, "big") for token in item[:room]) + b"\n"
