"""Where the roles stand when a run does not end: their stacks, for whoever reads the logs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tests.chaos.play.role import Role

TIMEOUT_S: Final = 30.0


def dump_stacks(roles: Iterable[Role]) -> None:
    """Beside each living role's log, as `NAME.stack`; nothing where py-spy is not installed or not allowed."""
    spy = Path(sys.executable).with_name("py-spy")
    if not spy.exists():
        return
    for role in roles:
        if role.pid is not None:
            # Native too: what waits for ever waits in librdkafka.
            command = [str(spy), "dump", "--native", "--pid", str(role.pid)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
            role.log_file.with_suffix(".stack").write_text(done.stdout + done.stderr)
