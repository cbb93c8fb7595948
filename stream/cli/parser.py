"""From words to a command and its arguments. Only the module of the command that was asked for is loaded."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import version
from typing import Any, Final, NoReturn, Protocol

from stream.cli.help import grouped
from stream.cli.options import installation_options
from stream.cli.registry import COMMANDS, COMMANDS_LATER, FLAGS_LATER
from stream.errors import UsageError

Commands = argparse._SubParsersAction  # argparse has no public name for it
Run = Callable[[argparse.Namespace], int]

#: Options before the command that take a value.
_TAKE_A_VALUE: Final = ("-c", "--config", "--state-dir")


class CommandModule(Protocol):
    """What a command's module offers."""

    def add_parser(self, commands: Commands[Any]) -> None:
        """Add the command's own parser, with all its options."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; the exit code."""


class Parser(argparse.ArgumentParser):
    """Raises UsageError in place of printing and exiting. No abbreviations: later flags must not change scripts."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def parse(arguments: Sequence[str]) -> tuple[Run, argparse.Namespace]:
    """The command to run and its arguments; UsageError says what is wrong and what would be right."""
    name = command_name(arguments)
    parser = Parser(
        prog="headrace",
        usage="headrace [-c FILE] [--state-dir DIR] COMMAND …",
        description=f"Streaming inference on Kafka: each input has exactly one answer.\n\n{grouped(COMMANDS)}",
        epilog="`headrace COMMAND --help` tells more of each.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[installation_options()],
    )
    parser.add_argument("--version", action="version", version=f"headrace {version('headrace')}")
    # Subparsers would begin their usage with all of ours; the list of commands stands in the description.
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", prog="headrace", help=argparse.SUPPRESS, required=True
    )
    modules = {name: _load(name, commands)} if name else {}
    for other in COMMANDS:
        if other != name:
            commands.add_parser(other)
    found, unknown = parser.parse_known_args(arguments)
    _refuse(unknown, found.command)
    return modules[found.command].run, found


def command_name(arguments: Sequence[str]) -> str | None:
    """The first word that is neither an option nor the value of one; UsageError when no command is named so."""
    words = iter(arguments)
    for word in words:
        if word in _TAKE_A_VALUE:
            next(words, None)
        elif not word.startswith("-"):
            return _known(word)
    return None


def _known(word: str) -> str:
    if word in COMMANDS:
        return word
    if word in COMMANDS_LATER:
        raise UsageError(f"'{word}' is not in this version")
    close = get_close_matches(word, COMMANDS, n=1)
    hint = f"did you mean '{close[0]}'?" if close else f"commands: {', '.join(COMMANDS)}"
    raise UsageError(f"unknown command '{word}'; {hint}")


def _load(name: str, commands: Commands[Any]) -> CommandModule:
    module: CommandModule = import_module(COMMANDS[name].module)
    module.add_parser(commands)
    return module


def _refuse(unknown: Sequence[str], command: str) -> None:
    for word in unknown:
        if word.split("=")[0] in FLAGS_LATER:
            raise UsageError(f"{word.split('=')[0]} is not in this version")
    if unknown:
        raise UsageError(f"unknown argument: {' '.join(unknown)} (see headrace {command} --help)")
