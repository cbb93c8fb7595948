"""What every scenario needs beside its own fault, so that I8 holds: hidden records, skip lists, busy rebalances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from tests.chaos.moves.network import end_txn
from tests.chaos.play.role import Role
from tests.chaos.play.stage import Stage
from tests.chaos.proxy.faults import Action

Name = TypeVar("Name", bound=str)

TRIES_MAX: Final = 5
BITE_TIMEOUT_S: Final = 40.0


def stir(stage: Stage, role: Role) -> None:
    """`role` dies with its outputs written and its commit unsent, then stays away until its partitions have moved.

    Repeated until all has been seen, since only work that is in flight at that instant counts.
    """
    session_s = stage.installation.shape.session_timeout_ms / 1000
    for _ in range(TRIES_MAX):
        stage.send(60)
        end_txn(stage, role, Action.KILL_BEFORE, nth=3)
        if role.wait(BITE_TIMEOUT_S):
            stage.note_heir(role)
            stage.send(20)
            stage.idle(role, session_s + 1.5)
        if stage.skipping_restarts and stage.sampler.busy_rebalances:
            return


def send_until(stage: Stage, wanted: Mapping[Name, int], timeout_s: float) -> None:
    """Work goes on coming in until every fault of `wanted` has bitten so often; TimeoutError where one does not."""
    for _ in range(int(timeout_s)):
        if not (missing := _missing(stage, wanted)):
            return
        stage.send(10)
        stage.play_for(1.0)
    raise TimeoutError(f"not bitten in {timeout_s:g} s, with what is still to come: {missing}")


def _missing(stage: Stage, wanted: Mapping[Name, int]) -> dict[str, int]:
    bites = stage.bites
    return {name: count - bites[name] for name, count in wanted.items() if bites[name] < count}
