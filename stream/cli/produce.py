"""`headrace produce TOPIC FILE|-`: one record a line, bytes as they are."""

from __future__ import annotations

import argparse
import json
import sys

from schemas import headers
from schemas.lane import LANES
from stream.cli.addressing_options import add_addressing, addressing
from stream.cli.options import find_installation, installation_options, json_option
from stream.cli.parser import Commands
from stream.client.client import Client
from stream.client.lines import open_lines, read_lines
from stream.client.producing import Produced
from stream.client.session import SESSION_HEADER_BYTES_MAX
from stream.errors import LogTimeout, UsageError


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "produce",
        parents=[installation_options(), json_option()],
        description="One record a line, bytes as they are; blank lines are skipped. "
        "Without a key or a session the key is null.",
    )
    parser.add_argument("topic", metavar="TOPIC")
    parser.add_argument("file", metavar="FILE", help="- for stdin")
    parser.add_argument("--lane", choices=[str(lane) for lane in LANES], help="the lane of all records")
    parser.add_argument("--tenant", help="the tenant of all records")
    session = parser.add_mutually_exclusive_group()
    session.add_argument("--session", help="the session of all records, also their key, unless they have one")
    session.add_argument(
        "--session-field", metavar="F", help="the field that holds a record's session, dots allowed"
    )
    add_addressing(parser)


def run(arguments: argparse.Namespace) -> int:
    found = find_installation(arguments)
    session = _checked(arguments.session, "--session")
    fixed = _fixed_headers(arguments.lane, _checked(arguments.tenant, "--tenant"))
    beside = addressing(arguments, fixed, session)
    client = Client.of(found, "produce")
    with (
        open_lines(arguments.file, sys.stdin.buffer) as file,
        client.producing(arguments.topic, beside, _complain) as (producing, bytes_max),
    ):
        try:
            produced = producing.run(read_lines(file, bytes_max))
        except LogTimeout:
            _tell(producing.produced, arguments.json)
            raise
        except KeyboardInterrupt:
            produced = producing.finish()
            _tell(produced, arguments.json)
            print(f"headrace: stopped after line {produced.lines}: go on with the next", file=sys.stderr)
            raise
    _tell(produced, arguments.json)
    return 1 if produced.failed else 0


def _fixed_headers(lane: str | None, tenant: bytes | None) -> headers.Headers:
    fixed: headers.Headers = []
    if lane is not None:
        fixed.append((headers.LANE, lane.encode()))
    if tenant is not None:
        fixed.append((headers.TENANT, tenant))
    return fixed


def _checked(text: str | None, option: str) -> bytes | None:
    if text is None:
        return None
    value = text.encode("utf-8", "surrogateescape")
    if not 1 <= len(value) <= SESSION_HEADER_BYTES_MAX:
        raise UsageError(f"{option} has {len(value)} bytes; 1 to {SESSION_HEADER_BYTES_MAX} are right")
    return value


def _complain(number: int, why: str) -> None:
    print(f"headrace: line {number}: {why}", file=sys.stderr)


def _tell(produced: Produced, as_json: bool) -> None:
    last = [f"{produced.topic}/{partition}/{offset}" for partition, offset in sorted(produced.last.items())]
    if as_json:
        told = {"topic": produced.topic, "records": produced.records, "failed": produced.failed, "last": last}
        print(json.dumps(told))
        return
    failed = f", {produced.failed} lines failed" if produced.failed else ""
    print(f"produced {produced.records} records to {produced.topic}{failed}")
    for position in last:
        print(f"last {position}")
