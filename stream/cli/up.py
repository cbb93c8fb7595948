"""`headrace up`: everything on this machine, under one supervisor."""

from __future__ import annotations

import argparse

from stream.cli.logs import log_to_stderr
from stream.cli.options import DEFAULT_STATE_DIR, installation_options
from stream.cli.parser import Commands
from stream.cli.settings import checked_settings
from stream.supervisor.run import run_up


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    commands.add_parser(
        "up",
        parents=[installation_options()],
        description="Start broker (where none is configured), dispatcher and workers; ends at SIGINT or SIGTERM.",
    )


def run(arguments: argparse.Namespace) -> int:
    log_to_stderr()
    config = getattr(arguments, "config", None)
    return run_up(checked_settings(config), config, getattr(arguments, "state_dir", DEFAULT_STATE_DIR))
