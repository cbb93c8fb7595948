"""`headrace quarantine list|reset|replay TOPIC/P`: what was set aside, and what becomes of it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from stream.cli.beats import last_beats
from stream.cli.deadline import Deadline
from stream.cli.installation import Installation, find_installation
from stream.cli.options import installation_options, json_option, partition, timeout_option
from stream.cli.parser import Commands
from stream.cli.setaside.fresh_map import write_fresh_map
from stream.cli.setaside.newer_records import refusing_workers
from stream.cli.setaside.partitions import ASK_S, NEWER, distrusted, distrusted_one
from stream.cli.setaside.reply_topics import RefusedTopic, refused_topics
from stream.cli.standing import Standing
from stream.cli.tables import print_table, table

TIMEOUT_S: Final = 60.0


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "quarantine", description="Partitions whose map cannot be trusted, and reply topics that refuse."
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser(
        "list",
        parents=[installation_options(), json_option(), timeout_option(TIMEOUT_S)],
        help="what is set aside, and why",
    )
    one = argparse.ArgumentParser(add_help=False, parents=[installation_options()])
    one.add_argument("partition", type=partition, metavar="TOPIC/P")
    actions.add_parser(
        "reset", parents=[one], help="go on at the end: what has no output by now never gets one from here"
    )
    replay = actions.add_parser(
        "replay", parents=[one], help="run all of it again: what has an output already gets a second one"
    )
    replay.add_argument("--from", dest="begin", choices=["base", "start"], default="base")


def run(arguments: argparse.Namespace) -> int:
    found = find_installation(arguments)
    if arguments.action == "list":
        return _list(found, Deadline(arguments.timeout), as_json=arguments.json)
    log = found.log("quarantine")
    standing = distrusted_one(log.admin(), found.settings, arguments.partition)
    offset = standing.end if arguments.action == "reset" else replay_offset(standing, arguments.begin)
    write_fresh_map(log, found.settings, standing.group, standing.partition, offset)
    name = f"{standing.partition.topic}/{standing.partition.partition}"
    print(f"{name} goes on at {offset} of {standing.end} for {standing.group}")
    print("a process that has it set aside looks at it every ten seconds, and takes it up then")
    return 0


def replay_offset(standing: Standing, begin: str) -> int:
    """The committed base, or the log's start where that is asked for or the base lies outside the log."""
    if begin == "start" or standing.committed is None or not standing.low <= standing.base <= standing.end:
        return standing.low
    return standing.base


def _list(found: Installation, deadline: Deadline, *, as_json: bool) -> int:
    log = found.log("quarantine", deadline)
    with deadline.asking(ASK_S) as ask_s:
        topics = log.admin().topics(ask_s)
    partitions = list(distrusted(log.admin(), found.settings, topics, deadline))
    refused = refused_topics(log, found.settings, list(topics), deadline)
    with deadline.asking(ASK_S) as ask_s:
        beats = last_beats(log, found.settings, topics, ask_s=ask_s)
    workers = refusing_workers(beats, partitions, found.settings)
    if as_json:
        told = {
            "partitions": [_as_json(one) for one in partitions],
            "reply_topics": [asdict(one) for one in refused],
            "workers": workers,
        }
        print(json.dumps(told, indent=2))
    else:
        _show(partitions, refused, workers)
    return 0


def _as_json(standing: Standing) -> dict[str, Any]:
    return {
        "group": standing.group,
        "topic": standing.partition.topic,
        "partition": standing.partition.partition,
        "committed": None if standing.committed is None else standing.committed.offset,
        "end": standing.end,
        "why": standing.distrust,
    }


def _show(
    partitions: Sequence[Standing], refused: Sequence[RefusedTopic], workers: Mapping[str, int]
) -> None:
    if not partitions and not refused and not workers:
        print("nothing is set aside")
    for worker, count in workers.items():
        print(f"{worker} has set aside {count} partitions, not all for their map: {NEWER}")
    if partitions:
        rows = table("Partitions", "partition", "group", "committed", "end", "why")
        for one in partitions:
            told = _as_json(one)
            name = f"{told['topic']}/{told['partition']}"
            rows.add_row(name, one.group, str(told["committed"]), str(one.end), one.distrust)
        print_table(rows)
    if refused:
        rows = table("Reply topics", "topic", "exists", "not replayed", "newest refusal")
        for topic in refused:
            rows.add_row(topic.topic, "yes" if topic.exists else "no", str(topic.dead_letters), topic.why)
        print_table(rows)
        print("when the topic exists and takes them: headrace dead-letters replay --class unwritable")
