"""Topics of a broker that exists only here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stream.errors import LogError
from stream.log.base import TopicDescription


class Topics:
    """What `ensure_topics` uses of an admin client. New topics are seen after `blind` more looks."""

    def __init__(self, *existing: TopicDescription, blind: int = 0, refused: str | None = None) -> None:
        self.existing = {topic.name: topic for topic in existing}
        self.created: list[TopicDescription] = []
        self._blind, self._refused = blind, refused

    def topics(self, timeout_s: float) -> Mapping[str, int]:
        return {name: topic.partitions for name, topic in self.existing.items()}

    def describe(self, names: Sequence[str], timeout_s: float) -> Mapping[str, TopicDescription | None]:
        if self.created and self._blind:
            self._blind -= 1
            return dict.fromkeys(names)
        return {name: self.existing.get(name) for name in names}

    def create(self, topics: Sequence[TopicDescription], timeout_s: float) -> None:
        if self._refused:
            raise LogError(self._refused)
        self.created.extend(topics)
        self.existing = {topic.name: topic for topic in topics} | self.existing
