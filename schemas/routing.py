"""Whose a record is and which lane it takes: the first hit counts: what the input is bound to, a header, the body."""

from __future__ import annotations

from typing import Final

from schemas.control import NAME_BYTES_MAX, Control
from schemas.errors import BadRecord
from schemas.lane import LANE_OF_SERVICE_TIER, Lane
from schemas.request import Body

DEFAULT_TENANT: Final = "default"


def tenant_of(control: Control, body: Body, bound: str | None = None) -> str:
    """The tenant that the input is bound to, else header, else `body.metadata.tenant`, else `default`."""
    if bound is not None:
        return bound
    if control.tenant is not None:
        return control.tenant
    if body.metadata is not None:
        named = body.metadata.get("tenant")
        if named:
            check_name("$.body.metadata.tenant", named)
            return named
    return DEFAULT_TENANT


def lane_of(control: Control, body: Body, bound: Lane | None = None, default: Lane = Lane.BATCH) -> Lane:
    """The lane that the input is bound to, else header, else `body.service_tier`, else `default`."""
    if bound is not None:
        return bound
    if control.lane is not None:
        return control.lane
    if body.service_tier is not None:
        return LANE_OF_SERVICE_TIER[body.service_tier]
    return default


def check_name(field: str, text: str) -> None:
    """BadRecord (`invalid`) where a tenant or session is longer than it may be."""
    size = len(text.encode())
    if size > NAME_BYTES_MAX:
        raise BadRecord.invalid(f"{field}: {size} bytes; right is at most {NAME_BYTES_MAX} bytes of UTF-8")
