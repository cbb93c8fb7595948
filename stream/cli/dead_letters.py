"""`headrace dead-letters list|show|replay`: records without an answer, and their way back."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter

from schemas.errors import NewerVersion
from schemas.failure import ErrorClass
from stream.cli.installation import Installation, find_installation
from stream.cli.letter_lines import facts, line, paragraph, whole
from stream.cli.moments import moment_ms
from stream.cli.options import installation_options, json_option, source
from stream.cli.parser import Commands
from stream.replay.find import Wanted, find_dead_letters
from stream.replay.run import Replayed, replay


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("dead-letters", description="Records without an answer, and their way back.")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    shared = [installation_options(), json_option(), _filters()]
    actions.add_parser("list", parents=shared, help="a line each: when, which input, why")
    actions.add_parser("show", parents=shared, help="all of each: key, headers and value as they came")
    again = actions.add_parser(
        "replay", parents=shared, help="put the originals back on their topics, each once"
    )
    again.add_argument(
        "--again",
        action="store_true",
        help="also those that were replayed before, each letter of a record",
    )
    again.add_argument("--dry-run", action="store_true", help="tell what would go; write nothing")


def run(arguments: argparse.Namespace) -> int:
    found = find_installation(arguments)
    wanted = Wanted(arguments.error_class, arguments.tenant, arguments.since, arguments.source)
    if arguments.action == "replay":
        return _replay(found, wanted, arguments)
    count = 0
    newer: list[NewerVersion] = []
    for letter in find_dead_letters(found.log("dead-letters"), found.settings, wanted, newer.append):
        count += 1
        if arguments.json:
            print(json.dumps(facts(letter) if arguments.action == "list" else whole(letter)))
        elif arguments.action == "list":
            print(line(letter))
        else:
            print("\n".join([*paragraph(letter), ""]))
    if not count and not newer and not arguments.json:
        print("headrace: no dead letters found", file=sys.stderr)
    for one in newer:
        print(f"headrace: {one}", file=sys.stderr)
    return 1 if newer else 0


def _filters() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(
        "--class", dest="error_class", type=_error_class, metavar="C", help=", ".join(ErrorClass)
    )
    parser.add_argument("--tenant", metavar="T")
    parser.add_argument(
        "--since", type=moment_ms, metavar="T", help="30m, 2h, 3d, 2026-05-01, 2026-05-01T12:00"
    )
    parser.add_argument(
        "--source", type=source, metavar="TOPIC/P/OFFSET", help="position of the input record"
    )
    return parser


def _error_class(text: str) -> ErrorClass:
    try:
        return ErrorClass(text)
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(f"{text!r} is not a class: {', '.join(ErrorClass)}") from wrong


def _replay(found: Installation, wanted: Wanted, arguments: argparse.Namespace) -> int:
    told: Counter[str] = Counter()
    log = found.log("dead-letters")
    for one in replay(log, found.settings, wanted, again=arguments.again, dry_run=arguments.dry_run):
        told[one.outcome] += 1
        print(json.dumps(_as_json(one)) if arguments.json else _as_text(one), flush=True)
    if not arguments.json:
        verb = "would be replayed" if arguments.dry_run else "replayed"
        count = told["would"] + told["replayed"]
        print(f"{count} {verb}, {told['already']} were replayed before, {told['refused']} refused")
    return 1 if told["refused"] else 0


def _as_json(one: Replayed) -> dict[str, str | None]:
    return {
        "letter": one.found.place,
        "source": str(one.found.letter.source),
        "outcome": one.outcome,
        "why": one.why or None,
    }


def _as_text(one: Replayed) -> str:
    outcome = {"would": "would be replayed", "already": "was replayed before"}.get(one.outcome, one.outcome)
    return f"{one.found.letter.source}  {outcome}{': ' if one.why else ''}{one.why}"
