"""`headrace consume TOPIC`: committed records, one JSON line each."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from stream.cli.broker_away import BrokerAway
from stream.cli.options import find_installation, installation_options, positive, seconds
from stream.cli.parser import Commands
from stream.client.client import Client
from stream.client.consuming import Wish
from stream.client.deadline import Deadline
from stream.client.record_line import record_line, value_line
from stream.errors import UsageError


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "consume",
        parents=[installation_options()],
        description="Reads committed records. Without --count or --follow it ends at the end as it is when it starts.",
    )
    add = parser.add_argument
    add("topic", metavar="TOPIC")
    until = parser.add_mutually_exclusive_group()
    until.add_argument(
        "--count", type=positive, metavar="N", help="end after N records; wait for those to come"
    )
    until.add_argument("-f", "--follow", action="store_true", help="whatever comes, until Ctrl-C")
    add("--timeout", type=seconds, metavar="S", help="seconds, then exit code 3")
    add("--from", dest="begin", choices=["earliest", "latest"], default="earliest")
    add("--custom-id", metavar="ID", help="only records whose custom_id this is")
    add("--values", action="store_true", help="the values alone, one a line")
    add("--bytes", dest="as_bytes", action="store_true", help="base64 for key, headers and value")
    add("--out", type=Path, metavar="FILE", help="write there, not to stdout; what it held is gone")


def run(arguments: argparse.Namespace) -> int:
    deadline = Deadline(arguments.timeout)
    client = Client.of(find_installation(arguments), "consume", deadline)
    wish = Wish(arguments.count, arguments.follow, arguments.custom_id)
    line_of = value_line if arguments.values else record_line
    consuming = client.consuming(arguments.topic, deadline, begin=arguments.begin)
    away = BrokerAway(client.log.admin(), _tell)
    with _opened(arguments.out) as out:
        for look in consuming.looks(wish):
            for record in look.records:
                out.write(line_of(record, as_bytes=arguments.as_bytes) + "\n")
            out.flush()
            away.looked(look.came)
    return 0


@contextmanager
def _opened(path: Path | None) -> Iterator[TextIO]:
    if path is None:
        yield sys.stdout
        return
    try:
        file = path.open("w", encoding="utf-8", errors="backslashreplace")
    except OSError as wrong:
        raise UsageError(f"--out {path} cannot be written: {wrong.strerror}") from wrong
    with file:
        yield file


def _tell(words: str) -> None:
    print(f"headrace: {words}", file=sys.stderr, flush=True)
