"""`headrace up`: everything on this machine, under one supervisor."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from rich.console import Console

from stream.cli.logs import log_to_stderr
from stream.cli.options import installation_options, seconds
from stream.cli.parser import Commands
from stream.cli.start_lines import start_lines
from stream.client.installation import DEFAULT_STATE_DIR
from stream.client.settings import checked_settings
from stream.supervisor.detached import start_detached
from stream.supervisor.up import run_up

#: A large model loads for minutes; a start attempt ends by itself after half an hour.
READY_TIMEOUT_S: Final = 1800.0


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "up",
        parents=[installation_options()],
        description="Start broker (where none is configured), dispatcher and workers; ends at SIGINT or SIGTERM.",
    )
    parser.add_argument(
        "--detach",
        action="store_true",
        help="return when it is ready, or with why it failed; `headrace down` ends it, `headrace logs` shows its log",
    )
    text = f"with --detach: seconds until it must be ready, then exit code 3 (default {READY_TIMEOUT_S:g})"
    parser.add_argument("--timeout", type=seconds, default=READY_TIMEOUT_S, metavar="S", help=text)


def run(arguments: argparse.Namespace) -> int:
    config: Path | None = getattr(arguments, "config", None)
    state_dir: Path = getattr(arguments, "state_dir", DEFAULT_STATE_DIR)
    settings = checked_settings(config)
    if arguments.detach:
        return _detached(config, state_dir.absolute(), arguments.timeout)
    log_to_stderr()
    return run_up(settings, config, state_dir)


def _detached(config: Path | None, state_dir: Path, timeout_s: float) -> int:
    started = start_detached(config, state_dir)
    try:
        with start_lines(Console(stderr=True, markup=False)) as told:
            runtime = started.await_ready(timeout_s, told)
    except KeyboardInterrupt:
        started.end()
        raise
    print(f"ready bootstrap={runtime.bootstrap_servers} state={state_dir}", flush=True)
    return 0
