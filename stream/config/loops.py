"""No topic may be read as an input and written as an output, and no two patterns may claim one topic."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from stream.config.findings import Findings
from stream.config.patterns import TopicPattern, check_pattern, common_topic
from stream.config.settings import Settings


def internal_patterns(settings: Settings) -> tuple[TopicPattern, ...]:
    """The topics that only the service writes, of this version and of later ones; Kafka's own too."""
    own = [settings.own_topic(name) for name in ("usage", "shards", "workers", "jobs", "replays")]
    globs = [settings.own_topic("work.*"), settings.own_topic("parked.*"), "__*"]
    return tuple(TopicPattern(text) for text in (*own, settings.outputs.dead_letters, *globs))


def reply_patterns(settings: Settings) -> tuple[TopicPattern, ...]:
    """Where an answer may go."""
    return tuple(
        TopicPattern(text)
        for text in dict.fromkeys((settings.outputs.results, *settings.outputs.reply_topics))
    )


def find_loops(settings: Settings, findings: Findings) -> None:
    """Add a finding for each pair of patterns that can meet and may not."""
    inputs = _valid(binding.pattern for binding in settings.inputs)
    internal = internal_patterns(settings)
    replies = reply_patterns(settings)
    for pattern in inputs:
        place = ("inputs", pattern.text)
        for other, what in (
            *((own, "an internal topic") for own in internal),
            *((own, "a reply topic") for own in replies),
        ):
            topic = common_topic(pattern, other)
            if topic is not None:
                if not findings.stands(place):  # an input that nobody wrote down
                    place = ("outputs", _output(settings, other))
                findings.add(place, f'input "{pattern.text}" would read "{topic}", {what}: a loop')
                break
    for pattern in replies:
        for own in internal:
            topic = common_topic(pattern, own)
            if topic is not None:
                findings.add(
                    ("outputs", _output(settings, pattern)),
                    f'"{pattern.text}" in [outputs] would let answers into "{topic}", an internal topic',
                )
                break
    for one, two in combinations([pattern for pattern in inputs if not pattern.exact], 2):
        topic = common_topic(one, two)
        if topic is not None:
            findings.add(
                ("inputs", two.text), f'inputs "{one.text}" and "{two.text}" would both read "{topic}"'
            )


def _output(settings: Settings, pattern: TopicPattern) -> str:
    """The key of [outputs] that names it."""
    names = {settings.outputs.results: "results", settings.outputs.dead_letters: "dead_letters"}
    return names.get(pattern.text, "reply_topics")


def _valid(texts: Iterator[str]) -> list[TopicPattern]:
    return [TopicPattern(text) for text in texts if check_pattern(text) is None]
