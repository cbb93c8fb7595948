"""How roles end: asked by SIGTERM all end well, and of the other ends only those that a supervisor mends are none of ours."""

from __future__ import annotations

from collections.abc import Iterable
from signal import SIGKILL
from typing import Final

from stream.log.kafka.consumer import SILENT
from tests.chaos.play.role import Role
from tests.chaos.play.stacks import dump_stacks

STOP_TIMEOUT_S: Final = 60.0
#: A role that lost its group or its broker, and is started again. Any other end that nobody asked for is wrong: above all
#: one of a fenced role, which no supervisor starts again, one by another signal, and a SIGTERM that is not obeyed.
_STARTED_AGAIN: Final = " ended with 1"
#: The last word of one whose membership, or whose client, went with a broker that was killed (stream/log/fence.py,
#: kafka/consumer.py): no clean end is left.
_LOST_GROUP: Final = (
    "headrace: the group has lost this member, and no other process owns its slot",
    f"headrace: {SILENT}",
)


def stop(roles: Iterable[Role], timeout_s: float = STOP_TIMEOUT_S) -> list[str]:
    """SIGTERM to those that run; what surprises in their ends. A SIGKILL of ours may be faster."""
    running = [role for role in roles if role.alive]
    for role in running:
        role.ask_to_stop()
    surprises = []
    for role in running:
        if not role.wait(timeout_s):
            surprises.append(f"{role.name} did not stop within {timeout_s:g} s of SIGTERM")
            dump_stacks([role])
            role.end()
        elif role.endings[-1] == 1 and _last_line(role).startswith(_LOST_GROUP):
            surprises.append(f"{role.name} had lost its group when SIGTERM came, and ended with 1")
        elif role.endings[-1] not in (0, -SIGKILL):
            surprises.append(f"{role.name} answered SIGTERM with exit code {role.endings[-1]}")
    return surprises


def _last_line(role: Role) -> str:
    lines = role.log_file.read_text(encoding="utf-8").splitlines()
    return lines[-1] if lines else ""


def wrong_ends(surprises: Iterable[str]) -> list[str]:
    """Those that fail a run."""
    return [text for text in surprises if not text.endswith(_STARTED_AGAIN)]
