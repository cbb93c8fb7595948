"""Tenant and lane: the first hit of the table."""

from __future__ import annotations

import pytest

from schemas.control import NO_CONTROL, Control
from schemas.errors import BadRecord
from schemas.lane import Lane
from schemas.request import Body
from schemas.routing import lane_of, tenant_of

NAMED = Body("m", metadata={"tenant": "meta"})


def test_the_tenant_is_bound_else_header_else_metadata_else_default() -> None:
    header = Control(tenant="header")
    assert tenant_of(header, NAMED, "bound") == "bound"
    assert tenant_of(header, NAMED) == "header"
    assert tenant_of(NO_CONTROL, NAMED) == "meta"
    assert tenant_of(NO_CONTROL, Body("m", metadata={"tenant": ""})) == "default"
    assert tenant_of(NO_CONTROL, Body("m", metadata={})) == "default"
    assert tenant_of(NO_CONTROL, Body("m")) == "default"


def test_a_tenant_in_metadata_is_at_most_256_bytes() -> None:
    tenant_of(NO_CONTROL, Body("m", metadata={"tenant": "é" * 128}))
    with pytest.raises(BadRecord, match=r"\$\.body\.metadata\.tenant: 258 bytes"):
        tenant_of(NO_CONTROL, Body("m", metadata={"tenant": "é" * 129}))


def test_the_lane_is_bound_else_header_else_service_tier_else_batch() -> None:
    header, tier = Control(lane=Lane.INTERACTIVE), Body("m", service_tier="priority")
    assert lane_of(header, tier, Lane.BATCH) is Lane.BATCH
    assert lane_of(header, tier) is Lane.INTERACTIVE
    assert lane_of(NO_CONTROL, tier) is Lane.PROVISIONED
    assert lane_of(NO_CONTROL, Body("m")) is Lane.BATCH
    assert lane_of(NO_CONTROL, Body("m"), default=Lane.INTERACTIVE) is Lane.INTERACTIVE


@pytest.mark.parametrize(
    ("tier", "lane"),
    [("default", "interactive"), ("auto", "interactive"), ("flex", "batch"), ("batch", "batch")],
)
def test_each_service_tier_has_its_lane(tier: str, lane: str) -> None:
    assert lane_of(NO_CONTROL, Body("m", service_tier=tier)) == lane  # type: ignore[arg-type]
