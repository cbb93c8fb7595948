"""Faults of processes: killed, frozen, doubled."""

from __future__ import annotations

import time
from signal import SIGKILL
from typing import Final

from stream.fault_points import POINTS
from tests.chaos.play.role import POLL_S, Role
from tests.chaos.play.stage import Stage

DUEL_TIMEOUT_S: Final = 90.0
#: Exit code of a role whose slot another process took.
FENCED: Final = 4
#: In a hunt: a role reaches its point within this, or has no work. A batch of records is one or two transactions, and the last of
#: NTH comes after a restart and a rebalance.
POINT_TIMEOUT_S: Final = 40.0
#: A worker's first transactions carry offsets alone (the count of deaths): these carry outputs.
NTH: Final = (4, 8)


def alive(stage: Stage, kind: str = "") -> list[Role]:
    """The running, unfrozen roles of a kind (`worker`, `dispatcher`; default: all)."""
    return [r for name, r in stage.roles.items() if name.startswith(kind) and r.alive and not r.frozen]


def any_role(stage: Stage, kind: str = "") -> Role | None:
    found = alive(stage, kind)
    return stage.rng.choice(found) if found else None


def kill_at_random(stage: Stage) -> None:
    """SIGKILL at an instant that nobody chose."""
    role = any_role(stage)
    if role is not None:
        stage.kill(role)


def kill_at_point(stage: Stage) -> None:
    """The next process of a slot will end at a named point; this one ends now."""
    role = any_role(stage)
    if role is not None:
        points = POINTS if role.kind == "worker" else POINTS[1:]  # a dispatcher's answers are ready at once
        role.fault_points.append(f"{stage.rng.choice(points)}:kill:{stage.rng.randint(1, NTH[1])}")
        stage.kill(role)


def freeze(stage: Stage, role: Role, seconds: float, name: str) -> None:
    """SIGSTOP, wait, SIGCONT: past the session timeout it comes back as a zombie."""
    role.freeze()
    stage.play_for(seconds)
    if role.frozen:
        role.thaw()
        stage.bite(name, role)


def freeze_at_random(stage: Stage) -> None:
    """A stall, half of them longer than the session timeout."""
    role = any_role(stage)
    if role is not None:
        session_s = stage.installation.shape.session_timeout_ms / 1000
        zombie = stage.rng.random() < 0.5
        seconds = session_s + stage.rng.uniform(1, 5) if zombie else stage.rng.uniform(0.2, session_s / 2)
        freeze(stage, role, seconds, "zombie" if zombie else "stall")


def freeze_at_point(
    stage: Stage,
    role: Role,
    point: str,
    seconds: float,
    *,
    patience_s: float = POINT_TIMEOUT_S,
    to_move_s: float = 0.0,
) -> bool:
    """The next process of `role` stops itself at `point`, in the middle of a transaction, and goes on much later.

    Up to `to_move_s` later still where its partitions have not moved by then: whether they have when it goes on.
    """
    role.fault_points.append(f"{point}:stop:{stage.rng.randint(*NTH)}")
    stage.kill(role)
    for _ in range(int(patience_s)):
        if role.frozen:
            break
        stage.send(10)
        stage.play_for(1.0)
    before = stage.generation(role.kind)
    if not role.frozen:
        stage.kill(role)  # else it may stop itself there much later, with nobody to wake it
        return False
    stage.play_for(seconds)
    limit_s = time.monotonic() + to_move_s
    while (still := stage.generation(role.kind) == before) and time.monotonic() < limit_s:
        stage.play_for(POLL_S)
    role.thaw()
    stage.bite(f"freeze_at_{point}", role)
    return not still


def freeze_in_transaction(stage: Stage) -> None:
    """Half of them longer than the transaction timeout, so that the broker aborts it meanwhile."""
    role = any_role(stage)
    if role is not None:
        point = stage.rng.choice(["begun", "produced", "offsets_sent"])
        freeze_at_point(stage, role, point, stage.rng.choice([6.0, 18.0]))


def duel(stage: Stage, role: Role) -> None:
    """The same slot twice: one of them is fenced and ends for good, the other goes on. No ping-pong."""
    code = role.duel(DUEL_TIMEOUT_S)
    if code == FENCED:
        stage.bite("twin_fenced", role)
    elif code != -SIGKILL:  # by that, a fault of the proxy was faster
        stage.surprises.append(
            f"{role.name}: of two processes for one slot, one ended with {code}, expected 4"
        )


def duel_at_random(stage: Stage) -> None:
    role = any_role(stage)
    if role is not None:
        duel(stage, role)
