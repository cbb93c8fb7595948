"""`headrace down`: the end of the installation that `headrace up` runs here."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from stream.cli.options import installation_options, timeout_option
from stream.cli.parser import Commands
from stream.client.installation import DEFAULT_STATE_DIR
from stream.supervisor.stopping import stop_installation

#: Roles have a minute to finish what runs, the broker 20 s.
STOP_S: Final = 120.0


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    commands.add_parser(
        "down",
        parents=[installation_options(), timeout_option(STOP_S)],
        description="Stop the `headrace up` of the state directory: what runs is finished and committed first.",
    )


def run(arguments: argparse.Namespace) -> int:
    state_dir: Path = getattr(arguments, "state_dir", DEFAULT_STATE_DIR)
    ended = stop_installation(state_dir, arguments.timeout, lambda line: print(line, file=sys.stderr))
    words = {
        "nothing": f"nothing runs in {state_dir}",
        "stopped": "stopped",
        "leftovers": "ended what a killed `headrace up` had left",
    }
    print(words[ended])
    return 0
