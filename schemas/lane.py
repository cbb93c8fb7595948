"""The three lanes, highest first."""

from __future__ import annotations

from enum import StrEnum


class Lane(StrEnum):
    """A priority class. A higher lane is never made to wait by a lower one."""

    PROVISIONED = "provisioned"
    INTERACTIVE = "interactive"
    BATCH = "batch"


LANES: tuple[Lane, ...] = (Lane.PROVISIONED, Lane.INTERACTIVE, Lane.BATCH)
#: Lower is sooner: the number vLLM's priority scheduling takes.
PRIORITY: dict[Lane, int] = {lane: place for place, lane in enumerate(LANES)}
#: `body.service_tier` of the OpenAI API, as a lane.
LANE_OF_SERVICE_TIER: dict[str, Lane] = {
    "priority": Lane.PROVISIONED,
    "default": Lane.INTERACTIVE,
    "auto": Lane.INTERACTIVE,
    "flex": Lane.BATCH,
    "batch": Lane.BATCH,
}
