"""`headrace dead-letters list|show|replay|edit|resolve`: records without an answer, and their way back."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import Final

from schemas.failure import ErrorClass
from stream.cli.dead_letter.listing import list_letters
from stream.cli.dead_letter.sending import edit_letter, replay_letters, resolve_letters
from stream.cli.options import find_installation, installation_options, json_option, source, timeout_option
from stream.cli.parser import Commands
from stream.cli.timestamps import moment_ms
from stream.client.installation import Installation
from stream.config.settings import Settings
from stream.log.base import Log
from stream.replay.find import Wanted

#: For the look for answers: a million records take about ten seconds.
TIMEOUT_S: Final = 60.0
_ACTIONS: Final = {
    "list": list_letters,
    "show": list_letters,
    "replay": replay_letters,
    "edit": edit_letter,
    "resolve": resolve_letters,
}
_NAME: Final = "ID|TOPIC/P/OFFSET"
_NAME_HELP: Final = "custom_id, position of the input record, or PARTITION/OFFSET of the dead letter"


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    words = "Records without an answer, and their way back."
    parser = commands.add_parser("dead-letters", parents=[installation_options()], description=words)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    base = [installation_options(), json_option()]
    looks = [*base, _filters(), _open_option(), timeout_option(TIMEOUT_S)]
    actions.add_parser("list", parents=looks, help="a line each: when, which input, what became of it, why")
    actions.add_parser("show", parents=looks, help="all of each: key, headers and value as they came")
    _replay_parser(actions, [*base, _filters()])
    _edit_parser(actions, base)
    _resolve_parser(actions, [*base, _filters()])


def run(arguments: argparse.Namespace) -> int:
    found = find_installation(arguments)
    return act(found, found.log("dead-letters"), arguments)


def act(found: Installation, log: Log, arguments: argparse.Namespace) -> int:
    """What was asked for, on this log; the exit code."""
    return _ACTIONS[arguments.action](found, log, _wanted(arguments, found.settings), arguments)


def _replay_parser(
    actions: Commands[argparse.ArgumentParser], parents: list[argparse.ArgumentParser]
) -> None:
    words = "put the originals back on their topics, each once"
    parser = actions.add_parser("replay", parents=[*parents, _dry_run()], help=words)
    parser.add_argument(
        "--again",
        action="store_true",
        help="also those that were replayed or closed before; of a record that died again the newest",
    )


def _edit_parser(actions: Commands[argparse.ArgumentParser], parents: list[argparse.ArgumentParser]) -> None:
    words = "change one value in $EDITOR and put it back, once; key and headers stay"
    parser = actions.add_parser("edit", parents=parents, help=words)
    parser.add_argument("name", metavar=_NAME, help=_NAME_HELP)
    parser.add_argument("--value", type=Path, metavar="FILE", help="the new value, in the place of an editor")
    parser.add_argument("--force", action="store_true", help="send it although it is not right")
    parser.add_argument("--again", action="store_true", help="although it was replayed or closed before")


def _resolve_parser(
    actions: Commands[argparse.ArgumentParser], parents: list[argparse.ArgumentParser]
) -> None:
    words = "close those that match: nothing is sent, and they count no longer"
    parser = actions.add_parser("resolve", parents=[*parents, _dry_run()], help=words)
    parser.add_argument("--reason", required=True, metavar="TEXT", help="why; `list` shows it")
    parser.add_argument("--all", action="store_true", help="every dead letter, where nothing else is given")


def _wanted(arguments: argparse.Namespace, settings: Settings) -> Wanted:
    name: str | None = arguments.name
    if name is not None:
        name = name.removeprefix(f"{settings.outputs.dead_letters}/")
    if arguments.action == "edit":
        return Wanted(name=name)
    wanted = Wanted(arguments.error_class, arguments.tenant, arguments.since, arguments.source)
    return dataclasses.replace(wanted, name=name)


def _filters() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("name", nargs="?", metavar=_NAME, help=_NAME_HELP)
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


def _open_option() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    words = "only those that were neither replayed, edited, closed nor answered"
    parser.add_argument("--open", action="store_true", help=words)
    return parser


def _dry_run() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--dry-run", action="store_true", help="tell what would be done; write nothing")
    return parser


def _error_class(text: str) -> ErrorClass:
    try:
        return ErrorClass(text)
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(f"{text!r} is not a class: {', '.join(ErrorClass)}") from wrong
