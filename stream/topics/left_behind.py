"""Endpoints that the configuration no longer has, and whose work topics are still there. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from schemas.lane import LANES
from stream.config.settings import Settings


def left_behind(settings: Settings, topics: Iterable[str]) -> list[str]:
    """Their names, sorted. Nobody reads what waits there until they are configured again."""
    prefix = settings.own_topic("work.")
    found = {
        topic.removeprefix(prefix).removesuffix(f".{lane}")
        for topic in topics
        for lane in LANES
        if topic.startswith(prefix) and topic.endswith(f".{lane}")
    }
    return sorted(found - settings.endpoints.keys())
