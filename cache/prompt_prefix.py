"""The first bytes of a prompt, in a form that is the same for every turn of a session."""

from __future__ import annotations

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
            content = "\n".join(part["text"] for part in content or ())
        # A character takes at least a byte: what is cut here would be cut below.
        text += f"{message.role}\n{content[:bytes_max]}\n"
        if len(text) >= bytes_max:
            break
    return text.encode()[:bytes_max]


def _items(items: list[str | int] | list[int], bytes_max: int) -> bytes:
    pieces: list[bytes] = []
    room = bytes_max
    for item in items:
        piece = (
            item.to_bytes(TOKEN_ID_BYTES, "big") if isinstance(item, int) else item[:room].encode() + b"\n"
        )
        pieces.append(piece)
        room -= len(piece)
        if room <= 0:
            break
    return b"".join(pieces)[:bytes_max]
