"""`headrace worker --endpoint X --slot N`: one engine replica, in this process."""

from __future__ import annotations

import argparse

from stream.cli.logs import log_to_stderr
from stream.cli.options import find_installation, installation_options, slot
from stream.cli.parser import Commands
from stream.config.findings import nearest
from stream.errors import UsageError
from stream.worker.role import run_worker


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "worker", parents=[installation_options()], description="One engine replica and its lanes."
    )
    parser.add_argument("--endpoint", required=True, metavar="X", help="whose requests it answers")
    parser.add_argument(
        "--slot", type=slot, required=True, metavar="N", help="its number; each runs once only"
    )


def run(arguments: argparse.Namespace) -> int:
    log_to_stderr()
    found = find_installation(arguments)
    name, number = arguments.endpoint, arguments.slot
    if name not in found.settings.endpoints:
        raise UsageError(f"no endpoint '{name}'{nearest(name, found.settings.endpoints)}")
    process_name = f"worker-{name}-{number:02d}"
    found.refuse_twin(process_name)
    with found.named_broker():
        return run_worker(found.settings, name, number, found.place(process_name))
