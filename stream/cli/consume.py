"""`headrace consume TOPIC`: committed records, one JSON line each."""

from __future__ import annotations

import argparse
import sys

from stream.cli.consuming import Consuming
from stream.cli.deadline import Deadline
from stream.cli.installation import find_installation
from stream.cli.options import installation_options, positive, seconds
from stream.cli.parser import Commands
from stream.cli.record_line import record_line
from stream.cli.topic_names import require_topic
from stream.log.base import Record


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "consume",
        parents=[installation_options()],
        description="Reads committed records. Without --count it ends at the end as it is when it starts.",
    )
    parser.add_argument("topic", metavar="TOPIC")
    parser.add_argument(
        "--count", type=positive, metavar="N", help="end after N records; wait for those to come"
    )
    parser.add_argument("--timeout", type=seconds, metavar="S", help="seconds, then exit code 3")
    parser.add_argument("--from", dest="begin", choices=["earliest", "latest"], default="earliest")
    parser.add_argument(
        "--bytes", dest="as_bytes", action="store_true", help="base64 for key, headers and value"
    )


def run(arguments: argparse.Namespace) -> int:
    deadline = Deadline(arguments.timeout)
    log = find_installation(arguments).log("consume", deadline)
    partitions = require_topic(log, arguments.topic, deadline)

    def write(record: Record) -> None:
        sys.stdout.write(record_line(record, as_bytes=arguments.as_bytes) + "\n")

    consuming = Consuming(log, partitions, deadline, from_latest=arguments.begin == "latest")
    consuming.run(arguments.count, write, sys.stdout.flush)
    return 0
