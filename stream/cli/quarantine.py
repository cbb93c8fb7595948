"""`headrace quarantine list|reset|replay|skip TOPIC/P`: what was set aside, and what becomes of it."""

from __future__ import annotations

import argparse
from typing import Final

from stream.cli.options import (
    find_installation,
    installation_options,
    json_option,
    offsets,
    partition,
    timeout_option,
)
from stream.cli.parser import Commands
from stream.cli.quarantined.fresh_map import write_fresh_map
from stream.cli.quarantined.listing import list_set_aside
from stream.cli.quarantined.partitions import distrusted_one
from stream.cli.quarantined.skip import skip
from stream.client.deadline import Deadline
from stream.client.group_position import GroupPosition
from stream.config.settings import Settings
from stream.log.base import Log, Partition

TIMEOUT_S: Final = 60.0


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "quarantine",
        description="Partitions whose map cannot be trusted or that cannot be read on, and reply topics that refuse.",
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
    skip_ = actions.add_parser(
        "skip",
        parents=[one],
        help="pass offsets that cannot be read: what a careful reader gives is a dead letter each",
    )
    skip_.add_argument("offsets", type=offsets, metavar="FROM-TO", help="both included, as `list` names them")
    replay.add_argument("--from", dest="begin", choices=["base", "start"], default="base")


def run(arguments: argparse.Namespace) -> int:
    found = find_installation(arguments)
    if arguments.action == "list":
        return list_set_aside(found, Deadline(arguments.timeout), as_json=arguments.json)
    log = found.log("quarantine")
    if arguments.action == "skip":
        return _skip(log, found.settings, arguments.partition, *arguments.offsets)
    standing = distrusted_one(log.admin(), found.settings, arguments.partition)
    offset = standing.end if arguments.action == "reset" else replay_offset(standing, arguments.begin)
    write_fresh_map(log, found.settings, standing.group, standing.partition, offset)
    name = f"{standing.partition.topic}/{standing.partition.partition}"
    print(f"{name} goes on at {offset} of {standing.end} for {standing.group}")
    print("a process that has it set aside looks at it every ten seconds, and takes it up then")
    return 0


def _skip(log: Log, settings: Settings, place: Partition, first: int, last: int) -> int:
    done = skip(log, settings, place, first, last)
    print(
        f"{place.topic}/{place.partition}: {done.group} goes on at {last + 1}; {first} to {last} are passed"
    )
    print(f"{done.dead_letters} records are dead letters of class unreadable")
    if done.unread:
        print(f"{done.unread} offsets cannot be read by any client: what was there has no output")
    return 0


def replay_offset(standing: GroupPosition, begin: str) -> int:
    """The committed base, or the log's start where that is asked for or the base lies outside the log."""
    if begin == "start" or standing.committed is None or not standing.low <= standing.base <= standing.end:
        return standing.low
    return standing.base
