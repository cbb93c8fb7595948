"""Every command, one line each, and those that later versions will have."""

from __future__ import annotations

from typing import Final, NamedTuple


class Command(NamedTuple):
    """Where a command lives (`add_parser(commands)` and `run(arguments) -> exit code`) and what it is for."""

    module: str
    purpose: str


COMMANDS: Final[dict[str, Command]] = {
    "up": Command("stream.cli.up", "start everything on this machine"),
    "down": Command("stream.cli.down", "stop it: what runs is finished first"),
    "logs": Command("stream.cli.show_logs", "what its processes have logged"),
    "demo": Command("stream.demo.command", "up, sample records, progress, a table of results, then stop"),
    "status": Command("stream.cli.status", "processes, lanes, lag and time left"),
    "produce": Command("stream.cli.produce", "put the lines of a file on a topic"),
    "consume": Command("stream.cli.consume", "print the records of a topic, one JSON line each"),
    "run-batch": Command(
        "stream.cli.run_batch", "answer a file of requests, or a table, and go on after any kill"
    ),
    "find": Command("stream.cli.find", "where a record is now"),
    "topics": Command(
        "stream.cli.topics", "the service's topics, their settings and the rights each role needs"
    ),
    "config": Command("stream.cli.config", "check a configuration file"),
    "dead-letters": Command("stream.cli.dead_letters", "list, show, replay, edit and close dead letters"),
    "quarantine": Command("stream.cli.quarantine", "partitions and reply topics that were set aside"),
    "dispatcher": Command("stream.cli.dispatcher", "one dispatcher, for many machines"),
    "worker": Command("stream.cli.worker", "one worker of an endpoint, for many machines"),
}

#: Known, but not built yet: refused with exit 2 and these words.
COMMANDS_LATER: Final = ("calibrate", "cost", "drain", "gateway", "job", "sql", "top")
FLAGS_LATER: Final = (
    "--budget-s",
    "--cost",
    "--gateway-port",
    "--group-protocol",
    "--group.protocol",
    "--redis-url",
)
