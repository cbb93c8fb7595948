"""Which processes an installation has, and the command line of each."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stream.config.settings import Settings


@dataclass(frozen=True, slots=True)
class RoleCommand:
    """One process to keep running."""

    role: str
    name: str
    command: tuple[str, ...]


#: The seam where tests put processes of their own.
Commands = Callable[[Settings, Path], tuple[RoleCommand, ...]]


def role_commands(settings: Settings, state_dir: Path) -> tuple[RoleCommand, ...]:
    """A dispatcher, and for each endpoint its workers."""
    workers = [
        _role("worker", f"worker-{endpoint.name}-{slot:02d}", state_dir, slot, "--endpoint", endpoint.name)
        for endpoint in settings.endpoints.values()
        for slot in range(endpoint.workers)
    ]
    return (_role("dispatcher", "dispatcher-00", state_dir, 0), *workers)


def _role(role: str, name: str, state_dir: Path, slot: int, *more: str) -> RoleCommand:
    # -P: a folder named `stream` where somebody stands must not be taken for ours.
    words = (
        sys.executable,
        "-P",
        "-m",
        "stream",
        role,
        *more,
        "--slot",
        str(slot),
        "--state-dir",
        str(state_dir),
    )
    return RoleCommand(role, name, words)
