"""`headrace config check FILE`: every finding as `file:line: what, nearest right name`; exit 2 when there is one."""

from __future__ import annotations

import argparse
from pathlib import Path

from stream.cli.options import installation_options
from stream.cli.parser import Commands
from stream.cli.settings import checked_settings
from stream.errors import ConfigError, UsageError


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("config")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = actions.add_parser(
        "check", parents=[installation_options()], help="print all that is wrong in it"
    )
    check.add_argument("file", type=Path, nargs="?", metavar="FILE", help="default: the file of -c")


def run(arguments: argparse.Namespace) -> int:
    path: Path | None = arguments.file or getattr(arguments, "config", None)
    if path is None:
        raise UsageError("which file? headrace config check FILE")
    try:
        settings = checked_settings(path)
    except ConfigError as wrong:
        print(wrong)
        return wrong.exit_code
    print(f"{path}: ok ({len(settings.inputs)} inputs, {len(settings.endpoints)} endpoints)")
    return 0
