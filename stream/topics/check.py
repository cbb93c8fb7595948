"""Whether topics that exist are as the service needs them. Pure: descriptions in, findings out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from stream.config.loops import internal_patterns, reply_patterns
from stream.config.patterns import TopicPattern
from stream.config.settings import Settings
from stream.log.base import TopicDescription
from stream.topics.plan import TopicPlan

Found = Mapping[str, TopicDescription | None]

#: Settings where more is as good.
AT_LEAST = frozenset({"max.message.bytes"})


def topic_findings(settings: Settings, plans: Sequence[TopicPlan], found: Found) -> list[str]:
    """What is wrong with existing topics, each with what to do."""
    return [*_settings_findings(plans, found), *_partition_findings(settings, plans, found)]


def wishes(plans: Sequence[TopicPlan], found: Found) -> list[str]:
    """Settings of existing topics that are fine for the service and may trouble their readers."""
    return [
        f"topic {plan.name} has {name}={actual}, the configuration says {plan.settings[name]}: readers in Python and "
        f"JavaScript may need more packages; {_how_to_set(plan, name)}"
        for plan in plans
        if (description := found.get(plan.name)) is not None
        for name in sorted(plan.wished)
        if (actual := description.settings.get(name)) not in {None, plan.settings[name]}
    ]


def loop_findings(settings: Settings, topics: Iterable[str]) -> list[str]:
    """Existing topics that an input pattern would read although the service writes them."""
    inputs = [TopicPattern(binding.pattern) for binding in settings.inputs]
    written = [*internal_patterns(settings), *reply_patterns(settings)]
    return [
        f'input "{pattern.text}" would read {topic}, which the service writes: a loop; '
        f"make the input or [outputs] reply_topics narrower"
        for topic in sorted(topics)
        for pattern in inputs
        if pattern.matches(topic) and any(own.matches(topic) for own in written)
    ]


def _settings_findings(plans: Sequence[TopicPlan], found: Found) -> Iterator[str]:
    for plan in plans:
        description = found.get(plan.name)
        if description is None:
            continue
        for name in sorted(plan.required):
            actual, needed = description.settings.get(name), plan.settings[name]
            if actual is not None and not _suffices(name, actual, needed):
                yield (
                    f"topic {plan.name} has {name}={actual}, the service needs {needed}: {_how_to_set(plan, name)}"
                )


def _how_to_set(plan: TopicPlan, name: str) -> str:
    return (
        f"set it with kafka-configs --alter --entity-type topics --entity-name {plan.name} "
        f"--add-config {name}={plan.settings[name]}"
    )


def _suffices(name: str, actual: str, needed: str) -> bool:
    return int(actual) >= int(needed) if name in AT_LEAST else actual == needed


def _partition_findings(settings: Settings, plans: Sequence[TopicPlan], found: Found) -> Iterator[str]:
    for name, endpoint in settings.endpoints.items():
        lanes = [plan.name for plan in plans if plan.endpoint == name]
        counts = {topic: existing.partitions for topic in lanes if (existing := found.get(topic)) is not None}
        if len(set(counts.values())) > 1:
            listed = ", ".join(f"{topic} has {count}" for topic, count in counts.items())
            yield (
                f"the lanes of endpoint {name} must have the same number of partitions, but {listed}: raise the "
                f"smaller ones to {max(counts.values())} with kafka-topics --alter --partitions"
            )
        elif counts and endpoint.partitions not in {None, *counts.values()}:
            count = next(iter(counts.values()))
            yield (
                f"the work topics of endpoint {name} have {count} partitions, the configuration says "
                f"{endpoint.partitions}: write partitions = {count}, or let them run empty and delete them"
            )
