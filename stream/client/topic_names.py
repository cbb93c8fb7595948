"""A topic that somebody names must exist: nothing is created by a typing error."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from stream.client.deadline import Deadline
from stream.config.findings import nearest
from stream.config.patterns import TopicPattern
from stream.config.settings import InputBinding, Settings
from stream.errors import LogError, UsageError
from stream.log.base import Log, Partition
from stream.topics.plan import planned_topics

#: A broker that does not answer a command within this time is told to be away.
METADATA_S: Final = 10.0
#: A record's own bytes beside key, value and headers, and its batch's.
FRAME_BYTES: Final = 512


def require_topic(
    log: Log, topic: str, deadline: Deadline | None = None, inputs: Sequence[InputBinding] = ()
) -> list[Partition]:
    """Its partitions; UsageError with the nearest name when there is no such topic, or that one of `inputs` would read it."""
    with (deadline or Deadline(None)).asking(METADATA_S) as ask_s:
        topics = log.admin().topics(ask_s)
    if topic not in topics:
        for binding in inputs:
            if TopicPattern(binding.pattern).matches(topic):
                raise UsageError(
                    f"no topic '{topic}' yet: the input \"{binding.pattern}\" reads it within seconds once it is "
                    "created, with Kafka's own tools or any client"
                )
        visible = [name for name in topics if not name.startswith("__")]
        raise UsageError(f"no topic '{topic}'{nearest(topic, visible)}")
    return [Partition(topic, number) for number in range(topics[topic])]


def input_topic_name(settings: Settings, said: str | None) -> str:
    """The input that takes the requests: `said`, else the first that has a name and the format json."""
    usable = [
        binding.pattern
        for binding in settings.inputs
        if binding.format == "json" and not binding.pattern.startswith("^") and "*" not in binding.pattern
    ]
    if said is not None and said not in usable:
        raise UsageError(f"--topic {said} is no input of the format json; there are: {', '.join(usable)}")
    if not usable:
        raise UsageError("requests are JSON, and no input with a plain name has the format json: add one")
    return said or usable[0]


def refuse_own(settings: Settings, topic: str) -> None:
    """UsageError for a topic that Headrace alone writes: what others put there would stand among its own records."""
    own = {plan.name: plan.purpose for plan in planned_topics(settings) if plan.purpose != "input"}
    if topic in own:
        inputs = ", ".join(binding.pattern for binding in settings.inputs)
        raise UsageError(
            f"'{topic}' is Headrace's own ({own[topic]}); records go to an input topic: {inputs}"
        )


def value_bytes_max(log: Log, topic: str) -> int:
    """What one value of this topic may weigh: one that is too large would take its batch's neighbours with it."""
    try:
        description = log.admin().describe([topic], METADATA_S)[topic]
    except LogError:
        # Whoever may write need not be allowed to read settings; the broker refuses by itself.
        return sys.maxsize
    limit = description.settings.get("max.message.bytes") if description else None
    return int(limit) - FRAME_BYTES if limit else sys.maxsize
