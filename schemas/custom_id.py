"""The custom_id of a line that is no good request: whoever sent it has nothing else to know its error by."""

from __future__ import annotations

from typing import Any, Final

import msgspec


class _Named(msgspec.Struct):
    """The one field that is read; the rest of the line may be what it likes."""

    custom_id: Any = None


_DECODER: Final = msgspec.json.Decoder(_Named)


def custom_id_in(value: bytes | None) -> str | None:
    """None where the value is not whole JSON, or its custom_id is no text. Raises nothing."""
    try:
        found = None if value is None else _DECODER.decode(value).custom_id
    except (msgspec.DecodeError, RecursionError):
        return None
    return found if isinstance(found, str) else None
