"""What in `response_format` and `structured_outputs` has no effect, and what must not be given there."""

from __future__ import annotations

from schemas.fields.ignored import Ignored
from schemas.fields.structures import JSON_SCHEMA, RESPONSE_FORMAT, STRUCTURED_OUTPUTS
from schemas.request import Body


def sift_structures(body: Body, found: Ignored) -> None:
    """A schema's own fields are the engine's to read."""
    if body.response_format is not None:
        where = "$.body.response_format"
        found.sift(RESPONSE_FORMAT, body.response_format, where)
        holder = body.response_format.get("json_schema")
        if isinstance(holder, dict):
            found.sift(JSON_SCHEMA, holder, f"{where}.json_schema")
    if body.structured_outputs is not None:
        found.sift(STRUCTURED_OUTPUTS, body.structured_outputs, "$.body.structured_outputs")
