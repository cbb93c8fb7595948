"""`headrace topics`: the service's topics with their settings, and the rights (ACLs) that each role needs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from stream.cli.options import find_installation, installation_options, json_option
from stream.cli.parser import Commands
from stream.cli.tables import print_table, table
from stream.client.installation import Installation
from stream.errors import LogError
from stream.topics import Right, TopicPlan, needed_rights, planned_topics

#: How long an unreachable broker may keep us from the plan, in seconds.
LOOK_S: Final = 10.0


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    commands.add_parser(
        "topics",
        parents=[installation_options(), json_option()],
        description="The topics of the configuration; where a broker answers, also how many partitions exist.",
    )


def run(arguments: argparse.Namespace) -> int:
    found = find_installation(arguments)
    plans, rights = planned_topics(found.settings), needed_rights(found.settings)
    existing = _existing(found)
    if arguments.json:
        print(json.dumps(_as_json(plans, rights, existing), indent=2))
    else:
        _show(plans, rights, existing)
    return 0


def _existing(found: Installation) -> Mapping[str, int] | None:
    """Topic -> partitions; None where no broker is known or none answers (the plan can be read all the same)."""
    if not found.has_broker:
        return None
    try:
        return found.log("topics").admin().topics(LOOK_S)
    except LogError as error:
        print(f"headrace: {error}; this is the plan alone", file=sys.stderr)
        return None


def _as_json(
    plans: Sequence[TopicPlan], rights: Sequence[Right], existing: Mapping[str, int] | None
) -> dict[str, Any]:
    topics = [
        {
            "name": plan.name,
            "purpose": plan.purpose,
            "endpoint": plan.endpoint,
            "partitions": plan.partitions,
            "partitions_existing": None if existing is None else existing.get(plan.name, 0),
            "settings": dict(plan.settings),
        }
        for plan in plans
    ]
    return {"topics": topics, "rights": [asdict(right) for right in rights]}


def _show(plans: Sequence[TopicPlan], rights: Sequence[Right], existing: Mapping[str, int] | None) -> None:
    topics = table("Topics", "topic", "partitions", "there are", "settings")
    for plan in plans:
        there = "?" if existing is None else str(existing.get(plan.name, "-"))
        settings = ", ".join(f"{name}={value}" for name, value in sorted(plan.settings.items()))
        topics.add_row(plan.name, str(plan.partitions), there, settings)
    print_table(topics)
    needed = table("Rights (ACLs) by role", "role", "resource", "name", "operations")
    for right in rights:
        name = right.name if right.pattern == "literal" else f"{right.name} (prefixed)"
        needed.add_row(right.role, right.resource, name, ", ".join(right.operations))
    print_table(needed)
