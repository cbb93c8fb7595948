"""Which of the topics that exist are inputs, and which hold work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from schemas.lane import LANES
from stream.config.patterns import TopicPattern
from stream.config.settings import Settings
from stream.topics.left_behind import left_behind


def input_topics(settings: Settings, topics: Iterable[str]) -> list[str]:
    """Of the topics that exist: the inputs."""
    patterns = [TopicPattern(binding.pattern) for binding in settings.inputs]
    return [topic for topic in topics if any(pattern.matches(topic) for pattern in patterns)]


def work_topics(settings: Settings, topics: Mapping[str, int]) -> list[str]:
    """The work topics of all endpoints, those included that are not configured any more."""
    endpoints = (*settings.endpoints, *left_behind(settings, topics))
    return [settings.work_topic(endpoint, lane) for endpoint in endpoints for lane in LANES]
