"""The rights (ACLs) that each role needs, as values: printed by `headrace topics`, granted by an operator."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from stream.config.patterns import TopicPattern
from stream.config.settings import Settings
from stream.topics.plan import planned_topics

Role = Literal["setup", "dispatcher", "worker", "operator"]
Resource = Literal["topic", "group", "transactional-id"]
PatternType = Literal["literal", "prefixed"]

LOOK: Final = ("Describe", "DescribeConfigs")


@dataclass(frozen=True, slots=True)
class Right:
    """One ACL to allow: `kafka-acls --add --allow-principal User:… --<resource> <name> --operation …`."""

    role: Role
    resource: Resource
    name: str
    pattern: PatternType
    operations: tuple[str, ...]


def needed_rights(settings: Settings) -> tuple[Right, ...]:
    """All roles' rights. `setup` is whoever starts first and creates topics; `operator` the command line."""
    return (*_setup(settings), *_dispatcher(settings), *_workers(settings), *_operator(settings))


def _setup(settings: Settings) -> tuple[Right, ...]:
    role: Role = "setup"
    return _on_planned(role, settings, ("Create", "Describe", "DescribeConfigs"))


def _on_planned(role: Role, settings: Settings, operations: tuple[str, ...]) -> tuple[Right, ...]:
    """On every topic of the plan. Each role looks at them all when it starts: one that it may not see is missing."""
    outside = [plan.name for plan in planned_topics(settings) if not plan.name.startswith(settings.prefix)]
    names = (Right(role, "topic", name, "literal", operations) for name in outside)
    return (Right(role, "topic", settings.prefix, "prefixed", operations), *names)


def _dispatcher(settings: Settings) -> tuple[Right, ...]:
    role: Role = "dispatcher"
    return (
        *_on_planned(role, settings, LOOK),
        *_covering(role, [binding.pattern for binding in settings.inputs], ("Read", *LOOK)),
        *_outputs(role, settings),
        Right(
            role, "topic", settings.own_topic("work."), "prefixed", ("Write", "Describe", "DescribeConfigs")
        ),
        Right(role, "topic", settings.own_topic("shards"), "literal", ("Read", "Write", "Describe")),
        Right(role, "topic", settings.own_topic("workers"), "literal", ("Read", "Describe")),
        Right(role, "group", settings.dispatcher_group, "literal", ("Read",)),
        Right(role, "group", settings.own_topic("worker."), "prefixed", ("Describe",)),
        _transactional(role, settings.dispatcher_group),
    )


def _workers(settings: Settings) -> tuple[Right, ...]:
    role: Role = "worker"
    own: list[Right] = []
    for endpoint in settings.endpoints:
        topics, group = settings.own_topic(f"work.{endpoint}."), settings.worker_group(endpoint)
        # Delete: the owner trims its topics below what it has committed.
        own.append(
            Right(role, "topic", topics, "prefixed", ("Read", "Delete", "Describe", "DescribeConfigs"))
        )
        own.append(Right(role, "group", group, "literal", ("Read",)))
        own.append(_transactional(role, group))
    heartbeats = Right(role, "topic", settings.own_topic("workers"), "literal", ("Write", "Describe"))
    return (*_on_planned(role, settings, LOOK), *own, heartbeats, *_outputs(role, settings))


def _operator(settings: Settings) -> tuple[Right, ...]:
    role: Role = "operator"
    replies = dict.fromkeys((settings.outputs.results, *settings.outputs.reply_topics))
    return (
        *_covering(role, [binding.pattern for binding in settings.inputs], ("Read", "Write", "Describe")),
        # Read: `find` and `dead-letters list` look for answers.
        *_covering(role, replies, ("Read", "Describe")),
        Right(role, "topic", settings.outputs.dead_letters, "literal", ("Read", "Describe")),
        Right(role, "topic", settings.prefix, "prefixed", ("Read", "Describe", "DescribeConfigs")),
        Right(role, "topic", settings.own_topic("replays"), "literal", ("Read", "Write", "Describe")),
        # Read: `headrace quarantine reset|replay` joins a group for a moment to write its offsets.
        Right(role, "group", settings.prefix, "prefixed", ("Read", "Describe")),
        _transactional(role, settings.own_topic("replay")),
    )


def _outputs(role: Role, settings: Settings) -> tuple[Right, ...]:
    write = ("Write", "Describe", "DescribeConfigs")
    named = (settings.outputs.dead_letters, settings.own_topic("usage"))
    replies = dict.fromkeys((settings.outputs.results, *settings.outputs.reply_topics))
    return (
        *(Right(role, "topic", name, "literal", write) for name in named),
        *_covering(role, replies, write),
    )


def _transactional(role: Role, group: str) -> Right:
    return Right(role, "transactional-id", group, "prefixed", ("Write", "Describe"))


def _covering(
    role: Role, patterns: list[str] | dict[str, None], operations: tuple[str, ...]
) -> tuple[Right, ...]:
    """ACLs know names and prefixes only: a glob or regex is covered by what all its names begin with."""
    return tuple(Right(role, "topic", *_covered(pattern), operations) for pattern in patterns)


def _covered(pattern: str) -> tuple[str, PatternType]:
    if TopicPattern(pattern).exact:
        return pattern, "literal"
    if not pattern.startswith("^"):
        start = pattern.partition("*")[0]
    elif "|" in pattern:
        start = ""
    else:
        literal = re.match(r"\^((?:[\w-]|\\\.)*)(?![*?{])", pattern)
        start = literal.group(1).replace("\\.", ".") if literal else ""
    # A literal "*" is Kafka's name for every topic.
    return (start, "prefixed") if start else ("*", "literal")
