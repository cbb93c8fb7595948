"""What was found out about a record that goes no further: what its dead letter, or error result, says of it."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from schemas.control import Control
from schemas.errors import BadRecord
from schemas.lane import Lane
from schemas.request import Request
from schemas.routing import lane_of, tenant_of
from schemas.work_record import parse_work
from stream.dispatcher.bindings import Inlet
from stream.log.base import Output

#: Of an endpoint as a record names it, which need not exist: what is ours in a dead letter cannot be left out.
ENDPOINT_CHARS_MAX: Final = 256


class PartialMetadata(NamedTuple):
    """None: not known when it failed."""

    tenant: str | None
    lane: Lane | None
    endpoint: str | None
    format: str | None


class _Told(msgspec.Struct):
    tenant: str | None
    lane: Lane | None
    endpoint: str | None


class _ErrorResult(msgspec.Struct):
    headrace: _Told


_RESULT: Final = msgspec.json.Decoder(_ErrorResult)


def found_in_input(inlet: Inlet, control: Control | None, request: Request | None) -> PartialMetadata:
    """By the table of routing, defaults too, where headers and body were read; else by what was read. Never fails.

    Of headers with a wrong one among them, `control` has those that are right; None: none could be read.
    """
    if control is None:
        return PartialMetadata(inlet.tenant, inlet.lane, None, inlet.format)
    if request is None:
        return PartialMetadata(inlet.tenant or control.tenant, inlet.lane or control.lane, None, inlet.format)
    body = request.body
    try:
        tenant = tenant_of(control, body, inlet.tenant)
    except BadRecord:  # it is too long: nobody's name
        tenant = None
    return PartialMetadata(
        tenant, lane_of(control, body, inlet.lane), body.model[:ENDPOINT_CHARS_MAX], inlet.format
    )


def found_in_work(output: Output) -> PartialMetadata:
    """What the headers of a work record say, which our own topic refused."""
    work = parse_work(output.key, output.value, output.headers)
    return PartialMetadata(work.tenant, work.lane, work.endpoint, work.format)


def found_in_result(output: Output) -> PartialMetadata:
    """What an error result says, which its topic refused."""
    told = _RESULT.decode(output.value or b"").headrace
    return PartialMetadata(told.tenant, told.lane, told.endpoint, None)
