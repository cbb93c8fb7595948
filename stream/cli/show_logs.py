"""`headrace logs [ROLE|NAME] [-f]`: what broker, dispatchers and workers of this machine have logged."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Final

from stream.cli.log_files import Tail, chosen
from stream.cli.options import installation_options, positive
from stream.cli.parser import Commands
from stream.client.installation import DEFAULT_STATE_DIR
from stream.config.findings import nearest
from stream.errors import UsageError

LINES: Final = 100
POLL_S: Final = 0.3


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "logs",
        parents=[installation_options()],
        description="The last lines of the processes' logs; several at once have their names before each line.",
    )
    parser.add_argument(
        "name", nargs="?", metavar="ROLE|NAME", help="worker, worker-smollm2-00, broker, up …"
    )
    parser.add_argument("-f", "--follow", action="store_true", help="go on with what comes, until Ctrl-C")
    text = f"how many of each (default {LINES})"
    parser.add_argument("-n", "--lines", type=positive, default=LINES, metavar="N", help=text)


def run(arguments: argparse.Namespace) -> int:
    state_dir: Path = getattr(arguments, "state_dir", DEFAULT_STATE_DIR)
    folder, name = state_dir / "logs", arguments.name
    tails = {file: Tail(file) for file in _files(folder, name)}
    width = max(len(file.stem) for file in tails) if len(tails) > 1 else 0
    for tail in tails.values():
        _print(tail, tail.last(arguments.lines), width)
    while arguments.follow:
        time.sleep(POLL_S)
        for file in chosen(list(folder.glob("*.log")), name):
            tail = tails.setdefault(file, Tail(file))
            _print(tail, list(tail.more()), width)
    return 0


def _files(folder: Path, name: str | None) -> list[Path]:
    """UsageError where there is none."""
    there = list(folder.glob("*.log"))
    if not there:
        raise UsageError(f"no logs in {folder}: nothing was started there")
    found = chosen(there, name)
    if not found:
        names = {*(file.stem for file in there), *(file.stem.partition("-")[0] for file in there)}
        raise UsageError(f"no logs of '{name}'{nearest(str(name), names)}")
    return found


def _print(tail: Tail, lines: list[str], width: int) -> None:
    before = f"{tail.file.stem:{width}} | " if width else ""
    for line in lines:
        print(f"{before}{line}", flush=True)
