"""A group's members come and go while they are at work."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from tests.chaos.moves.processes import any_role
from tests.chaos.play.role import Role
from tests.chaos.play.stage import Stage

#: In a hunt: a newcomer has partitions and has published something within this, or gets none.
JOIN_TIMEOUT_S: Final = 12.0
#: In a hunt: a role that has work opens its next transaction within this.
WORK_TIMEOUT_S: Final = 3.0
#: The sampler sees a rebalance within this.
NOTICE_TIMEOUT_S: Final = 3.0
#: Between two handfuls of records.
STEP_S: Final = 0.05
#: Of each request: a dispatcher's transaction takes five, so that one is open most of the time.
LATENCY_S: Final = 0.05
KINDS: Final = ("worker", "dispatcher")


def leave_and_return(stage: Stage, role: Role, seconds: float, patience_s: float = WORK_TIMEOUT_S) -> None:
    """A clean stop, then the same slot again: a static restart, or after its partitions have moved."""
    leave(stage, role, "clean_restart", patience_s)
    stage.idle(role, seconds)


def leave(stage: Stage, role: Role, name: str, patience_s: float = WORK_TIMEOUT_S) -> None:
    """SIGTERM. It bites where the role had work then: a transaction open, or answers that it published before its end."""
    at_work, published = meet_at_work(stage, role, patience_s), stage.cluster.proxy.published
    before = published[role.transactional_id]
    stage.stop([role])
    if at_work or published[role.transactional_id] > before:
        stage.bite(name, role)


def leave_at_random(stage: Stage) -> None:
    """Half of them for longer than the session timeout."""
    role = any_role(stage)
    if role is not None:
        session_s = stage.installation.shape.session_timeout_ms / 1000
        leave_and_return(stage, role, stage.rng.choice([0.0, session_s + 2]))


def join(stage: Stage) -> None:
    """One more of either kind comes, and goes for good a little later, by either signal."""
    stage.cluster.proxy.latency_s = LATENCY_S
    come_and_go(stage, stage.rng.choice(KINDS), killed=stage.rng.random() < 0.5)
    stage.cluster.proxy.latency_s = 0.0


def come_and_go(
    stage: Stage,
    kind: str,
    *,
    killed: bool,
    join_s: float = JOIN_TIMEOUT_S,
    work_s: float = WORK_TIMEOUT_S,
) -> None:
    """It joins, works, and goes for good: cleanly, or in the middle of a transaction. Work comes in all the time."""
    slot = len(stage.roles) + 10
    newcomer = stage.worker(slot) if kind == "worker" else stage.dispatcher(slot)
    proxy, own, before = stage.cluster.proxy, newcomer.transactional_id, stage.busy_moves(kind)
    published = proxy.published[own]  # by an earlier newcomer of this slot
    newcomer.start()
    joined = busily(stage, lambda: proxy.published[own] > published, join_s)
    if joined and busily(stage, lambda: stage.busy_moves(kind) > before, NOTICE_TIMEOUT_S):
        stage.bite("join", newcomer)
    if not killed:
        leave(stage, newcomer, "leave", work_s)
    else:
        at_work = meet_at_work(stage, newcomer, work_s)
        stage.kill(newcomer)
        if at_work:
            stage.bite("die_in_transaction", newcomer)
    stage.dismiss(newcomer)
    generation, session_s = stage.generation(kind), stage.installation.shape.session_timeout_ms / 1000
    busily(stage, lambda: stage.generation(kind) > generation, session_s + 4)


def meet_at_work(stage: Stage, role: Role, patience_s: float) -> bool:
    """Work comes in until the role has a transaction open."""
    own, proxy = role.transactional_id, stage.cluster.proxy
    return busily(stage, lambda: proxy.is_writing(own), patience_s)


def busily(stage: Stage, reached: Callable[[], bool | int], timeout_s: float) -> bool:
    """Work goes on coming in until it is `reached`; False when that took too long.

    Without a pause: a dispatcher that finds the next records while a transaction is open polls at no other time, and so
    joins a rebalance with that transaction open; one with nothing to do joins between two.
    """
    deadline = time.monotonic() + timeout_s
    while not reached():
        if time.monotonic() > deadline:
            return False
        stage.send(3)
        stage.play_for(STEP_S)
    return True
