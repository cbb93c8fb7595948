"""A request line's model as the name of an endpoint, all else in it as it was."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import msgspec

_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_encode: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Rename:
    """Lines that name one of `models` go to `endpoint`."""

    models: AbstractSet[str]
    endpoint: str

    def line(self, value: bytes) -> bytes:
        """The line with the endpoint in it; as it is where it names another model, or is no request line."""
        # A backslash may write any character of the name in another way.
        if b"\\" not in value and not any(model.encode() in value for model in self.models):
            return value
        try:
            line = _FIELDS.decode(value)
            body = _FIELDS.decode(line["body"])
            model = msgspec.json.decode(body["model"])
        except (msgspec.DecodeError, RecursionError, KeyError):
            return value
        if not isinstance(model, str) or model not in self.models:
            return value
        body["model"] = msgspec.Raw(_encode(self.endpoint))
        line["body"] = msgspec.Raw(_encode(body))
        return _encode(line)
