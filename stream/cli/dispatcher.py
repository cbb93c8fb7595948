"""`headrace dispatcher --slot N`: input topics to work topics, in this process."""

from __future__ import annotations

import argparse

from stream.cli.logs import log_to_stderr
from stream.cli.options import find_installation, installation_options, slot
from stream.cli.parser import Commands
from stream.dispatcher.role import run_dispatcher


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "dispatcher", parents=[installation_options()], description="Input topics to work topics."
    )
    parser.add_argument(
        "--slot", type=slot, required=True, metavar="N", help="its number; each runs once only"
    )


def run(arguments: argparse.Namespace) -> int:
    log_to_stderr()
    found = find_installation(arguments)
    process_name = f"dispatcher-{arguments.slot:02d}"
    found.refuse_twin(process_name)
    with found.named_broker():
        return run_dispatcher(found.settings, arguments.slot, found.place(process_name))
