"""`headrace quarantine list`: everything that is set aside, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from stream.cli.quarantined.newer_records import refusing_workers
from stream.cli.quarantined.partitions import ASK_S, NEWER, distrusted
from stream.cli.quarantined.reply_topics import RefusedTopic, refused_topics
from stream.cli.quarantined.stuck import StuckPartition, stuck_partitions
from stream.cli.tables import print_table, table
from stream.client.deadline import Deadline
from stream.client.group_position import GroupPosition
from stream.client.heartbeats import last_beats
from stream.client.installation import Installation


@dataclass(frozen=True, slots=True)
class _SetAside:
    partitions: Sequence[GroupPosition]
    stuck: Sequence[StuckPartition]
    reply_topics: Sequence[RefusedTopic]
    #: Workers that refuse more than these explain: how many partitions, and what they say of each.
    workers: Mapping[str, int]
    refused_by_workers: Mapping[str, Mapping[str, str]]


def list_set_aside(found: Installation, deadline: Deadline, *, as_json: bool) -> int:
    told = _look(found, deadline)
    if as_json:
        print(json.dumps(_as_json(told), indent=2))
    else:
        _show(told)
    return 0


def _look(found: Installation, deadline: Deadline) -> _SetAside:
    log, settings = found.log("quarantine", deadline), found.settings
    with deadline.asking(ASK_S) as ask_s:
        topics = log.admin().topics(ask_s)
    partitions = list(distrusted(log.admin(), settings, topics, deadline))
    stuck = list(stuck_partitions(log, settings, topics, deadline))
    refused = refused_topics(log, settings, list(topics), deadline)
    with deadline.asking(ASK_S) as ask_s:
        beats = last_beats(log, settings, topics, ask_s=ask_s)
    workers = refusing_workers(beats, [*partitions, *(one.standing for one in stuck)], settings)
    named = {beat.worker: beat.set_aside for beat in beats if beat.worker in workers}
    return _SetAside(partitions, stuck, refused, workers, named)


def _as_json(told: _SetAside) -> dict[str, Any]:
    return {
        "partitions": [*map(_partition_as_json, told.partitions), *map(_stuck_as_json, told.stuck)],
        "reply_topics": [asdict(one) for one in told.reply_topics],
        "workers": told.workers,
        "refused_by_workers": told.refused_by_workers,
    }


def _partition_as_json(standing: GroupPosition) -> dict[str, Any]:
    return {
        "group": standing.group,
        "topic": standing.partition.topic,
        "partition": standing.partition.partition,
        "committed": None if standing.committed is None else standing.committed.offset,
        "end": standing.end,
        "why": standing.distrust,
        "cause": "map",
        "from": None,
        "to": None,
    }


def _stuck_as_json(one: StuckPartition) -> dict[str, Any]:
    """`from` and `to`: what to give to `skip`."""
    told = {"why": one.stuck.why, "cause": one.stuck.cause, "from": one.first, "to": one.last}
    return {**_partition_as_json(one.standing), **told}


def _show(told: _SetAside) -> None:
    if not told.partitions and not told.stuck and not told.reply_topics and not told.workers:
        print("nothing is set aside")
    for worker, count in told.workers.items():
        print(f"{worker} has set aside {count} partitions, not all for their map: {NEWER}")
        for place, why in told.refused_by_workers[worker].items():
            print(f"  {place}: {why}")
    if told.partitions or told.stuck:
        _show_partitions(_as_json(told)["partitions"])
    for one in told.stuck:
        topic, number = one.standing.partition
        print(
            f"to pass what cannot be read: headrace quarantine skip {topic}/{number} {one.first}-{one.last}"
        )
    if told.reply_topics:
        _show_reply_topics(told.reply_topics)


def _show_partitions(partitions: Sequence[Mapping[str, Any]]) -> None:
    rows = table("Partitions", "partition", "group", "committed", "end", "cause", "why")
    for one in partitions:
        name = f"{one['topic']}/{one['partition']}"
        rows.add_row(name, one["group"], str(one["committed"]), str(one["end"]), one["cause"], one["why"])
    print_table(rows)


def _show_reply_topics(reply_topics: Sequence[RefusedTopic]) -> None:
    rows = table("Reply topics", "topic", "exists", "not replayed", "newest refusal")
    for topic in reply_topics:
        rows.add_row(topic.topic, "yes" if topic.exists else "no", str(topic.dead_letters), topic.why)
    print_table(rows)
    print("when the topic exists and takes them: headrace dead-letters replay --class unwritable")
