"""`headrace find CUSTOM_ID|TOPIC/P/OFFSET`: where a record is now; no hit: exit 1."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Final

from stream.cli.deadline import Deadline
from stream.cli.finding.hit import Hit
from stream.cli.finding.search import Search
from stream.cli.held import held_words
from stream.cli.installation import find_installation
from stream.cli.options import installation_options, json_option, timeout_option
from stream.cli.parser import Commands
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
        "record", metavar="CUSTOM_ID|TOPIC/P/OFFSET", help="an id, or the position of the input"
    )


def run(arguments: argparse.Namespace) -> int:
    if not arguments.record:
        raise UsageError("which record? its custom_id, or the TOPIC/P/OFFSET of its input")
    deadline = Deadline(arguments.timeout)
    found = find_installation(arguments)
    search = Search(found.log("find", deadline), found.settings, deadline)
    hits = 0
    for hit in search.run(arguments.record):
        hits += 1
        print(json.dumps(_as_json(hit)) if arguments.json else _as_text(hit), flush=True)
    if not hits:
        unseen = search.held_inputs()
        hint = f"; {held_words(unseen)}" if unseen else ""
        print(f"headrace: no record '{arguments.record}'{hint}", file=sys.stderr)
    return 0 if hits else 1


def _as_json(hit: Hit) -> dict[str, str | None]:
    where = None if hit.where is None else str(hit.where)
    return {"source": str(hit.source), "state": hit.state, "where": where, "why": hit.why}


def _as_text(hit: Hit) -> str:
    where = f" at {hit.where}" if hit.where is not None and hit.where != hit.source else ""
    why = f": {hit.why}" if hit.why else ""
    return f"{hit.source} {hit.state}{where}{why}"
