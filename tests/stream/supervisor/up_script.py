"""`headrace up` with dummy roles: `python -m … STATE_DIR embedded|outside ROLE[:BEHAVIOUR]…`."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from stream.config.settings import KafkaSettings, Settings
from stream.errors import StreamError
from stream.process_context import ProcessContext
from stream.supervisor.commands import RoleCommand
from stream.supervisor.restart import RestartPolicy
from stream.supervisor.up import UpDependencies, prepare_topics, run_up

DUMMY = "tests.stream.supervisor.dummy_role"


def main(state_dir: Path, broker: str, *roles: str) -> int:
    embedded = broker == "embedded"
    settings = Settings(kafka=None if embedded else KafkaSettings("127.0.0.1:1"))
    parts = UpDependencies(
        commands=lambda settings, directory: tuple(command(role, directory) for role in roles),
        prepare=prepare_topics if embedded else nothing,
        policy=RestartPolicy(backoff_s=0.1, backoff_max_s=0.5),
    )
    try:
        return run_up(settings, None, state_dir, parts=parts)
    except StreamError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code


def command(role: str, state_dir: Path) -> RoleCommand:
    name, *behaviour = role.split(":")
    return RoleCommand(
        name.partition("-")[0], name, (sys.executable, "-m", DUMMY, name, str(state_dir), *behaviour)
    )


def nothing(settings: Settings, place: ProcessContext) -> None:
    """No broker, no topics."""


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
