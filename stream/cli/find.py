"""`headrace find CUSTOM_ID|TOPIC/P/OFFSET` or `--text SUBSTRING`: where a record is now; no hit: exit 1."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Final

from stream.cli.finding.hit import Hit
from stream.cli.finding.search import Search
from stream.cli.open_transactions import held_words
from stream.cli.options import find_installation, installation_options, json_option, timeout_option
from stream.cli.parser import Commands
from stream.cli.timestamps import moment_ms
from stream.client.deadline import Deadline
from stream.errors import UsageError

#: Looking through a million records takes about ten seconds.
TIMEOUT_S: Final = 60.0


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "find",
        parents=[installation_options(), json_option(), timeout_option(TIMEOUT_S)],
        description="Where a record is now: waiting, released, running, answered (where), dead (why).",
    )
    parser.add_argument(
        "record",
        nargs="?",
        metavar="CUSTOM_ID|TOPIC/P/OFFSET",
        help="an id (also one in a line that is no JSON), or the position of the input",
    )
    parser.add_argument(
        "--text", metavar="SUBSTRING", help="in the place of an id: what stands in the input's value"
    )
    parser.add_argument(
        "--since", type=moment_ms, metavar="T", help="with --text: 30m, 2h, 3d, 2026-05-01, 2026-05-01T12:00"
    )


def run(arguments: argparse.Namespace) -> int:
    _check(arguments)
    deadline = Deadline(arguments.timeout)
    found = find_installation(arguments)
    search = Search(found.log("find", deadline), found.settings, deadline)
    hits = 0
    found_hits = (
        search.run_text(arguments.text, arguments.since) if arguments.text else search.run(arguments.record)
    )
    for hit in found_hits:
        hits += 1
        print(json.dumps(_as_json(hit)) if arguments.json else _as_text(hit), flush=True)
    if not hits:
        unseen = search.held_inputs()
        hint = f"; {held_words(unseen)}" if unseen else ""
        print(f"headrace: no record '{arguments.text or arguments.record}'{hint}", file=sys.stderr)
    return 0 if hits else 1


def _check(arguments: argparse.Namespace) -> None:
    if not arguments.record and not arguments.text:
        raise UsageError(
            "which record? its custom_id, the TOPIC/P/OFFSET of its input, or --text of its value"
        )
    if arguments.record and arguments.text:
        raise UsageError("an id or a position, or --text: not both")
    if arguments.since is not None and not arguments.text:
        raise UsageError("--since bounds the look for --text")


def _as_json(hit: Hit) -> dict[str, str | None]:
    where = None if hit.where is None else str(hit.where)
    return {"source": str(hit.source), "state": hit.state, "where": where, "why": hit.why}


def _as_text(hit: Hit) -> str:
    where = f" at {hit.where}" if hit.where is not None and hit.where != hit.source else ""
    why = f": {hit.why}" if hit.why else ""
    return f"{hit.source} {hit.state}{where}{why}"
