"""The suite can fail: each worker that breaks a rule of exactly-once turns the checker red, for the reason named here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.chaos.check.evidence import Violation
from tests.chaos.inputs.mix import Mix
from tests.chaos.moves.membership import busily
from tests.chaos.moves.network import end_txn
from tests.chaos.moves.processes import freeze_at_point
from tests.chaos.play.cluster import Cluster
from tests.chaos.play.installation import Shape
from tests.chaos.play.judge import judge
from tests.chaos.play.scenario import prepared
from tests.chaos.play.scene import DRAIN_S, PATIENCE_S
from tests.chaos.play.stage import Stage
from tests.chaos.proxy.faults import Action

pytestmark = [pytest.mark.broker, pytest.mark.chaos, pytest.mark.timeout(900)]

MIX = Mix(partitions=2, bad_share=0.0, session_share=0.2, sleep_mean_s=0.4)
SHAPE = Shape(input_partitions=2, work_partitions=4, workers=2, session_timeout_ms=3_000)
#: Past the session timeout, below the transaction timeout of 15 s.
ZOMBIE_S = 7.0
#: A transaction of progress alone may be the one that stalls, and then there is nothing that could be published twice.
STALLS = 2
#: One whose partitions did not move proves nothing: on a loaded machine they may take longer. Then it is played again.
STALLS_MAX = 5
TO_MOVE_S = 4.0


def kill_with_work_done_above_the_base(stage: Stage) -> None:
    """Long records hold the base while others finish above it; then the workers die and come back."""
    stage.send(60, replace(MIX, sleep_mean_s=0.1, long_records=6, long_s=6.0))
    workers = [role for role in stage.roles.values() if role.kind == "worker"]
    # The first transactions of a worker carry no outputs: a death there would leave nothing above the base.
    published = stage.cluster.proxy.published
    assert busily(stage, lambda: all(published[role.transactional_id] for role in workers), PATIENCE_S)
    for role in workers:
        end_txn(stage, role, Action.KILL_AFTER)
    assert busily(stage, lambda: stage.bites[Action.KILL_AFTER] >= len(workers), PATIENCE_S)


def freeze(point: str) -> Callable[[Stage], None]:
    """A worker stalls inside a transaction, its partitions move and are worked on, then it goes on; STALLS times."""

    def play(stage: Stage) -> None:
        role, moved = stage.roles["worker-sim-00"], 0
        for _ in range(STALLS_MAX):
            moved += freeze_at_point(stage, role, point, ZOMBIE_S, patience_s=PATIENCE_S, to_move_s=TO_MOVE_S)
            if moved == STALLS:
                break

    return play


def send_sessions(stage: Stage) -> None:
    """Calls of very different lengths in few sessions: whoever does not wait overtakes."""
    stage.send(150, replace(MIX, sessions=3, session_share=1.0, unordered_share=0.0, sleep_mean_s=0.1))


def run(
    cluster: Cluster,
    folder: Path,
    how: str,
    play: Callable[[Stage], None],
    bites: tuple[str, ...],
    shape: Shape = SHAPE,
) -> list[Violation]:
    module = ("tests.chaos.broken.worker", how) if how else ("stream", "worker")
    with prepared(cluster, folder, Random(7), shape, MIX, module) as stage:
        play(stage)
        # A broken worker may never be done; the real one may take its time.
        judgement = judge(stage, drain_s=40 if how else DRAIN_S, required=bites)
    return judgement.violations


def outputs_of_some_input(found: list[Violation]) -> set[str]:
    """What I1 says of inputs without exactly one output: `0 outputs: none`, `2 outputs: result …`."""
    return {violation.what.split(" has ")[1][:9] for violation in found if violation.invariant == "I1"}


DEATH = (kill_with_work_done_above_the_base, Action.KILL_AFTER)
STALL_BEFORE_OFFSETS = (freeze("begun"), "freeze_at_begun")
STALL_AFTER_OFFSETS = (freeze("offsets_sent"), "freeze_at_offsets_sent")


@pytest.mark.parametrize(
    ("how", "play", "bite", "reason"),
    [
        ("drop_map", *DEATH, "2 outputs"),
        ("commit_highest", *DEATH, "0 outputs"),
        ("unfenced", *STALL_AFTER_OFFSETS, "2 outputs"),
        ("ignore_generation", *STALL_BEFORE_OFFSETS, "2 outputs"),
    ],
)
def test_a_broken_rule_turns_the_checker_red(
    cluster: Cluster, tmp_path: Path, how: str, play: Callable[[Stage], None], bite: str, reason: str
) -> None:
    found = run(cluster, tmp_path, how, play, (bite,))
    assert reason in outputs_of_some_input(found), found[:10]


@pytest.mark.parametrize(("play", "bite"), [DEATH, STALL_BEFORE_OFFSETS, STALL_AFTER_OFFSETS])
def test_the_same_play_leaves_the_real_worker_green(
    cluster: Cluster, tmp_path: Path, play: Callable[[Stage], None], bite: str
) -> None:
    assert run(cluster, tmp_path, "", play, (bite,)) == []


#: The endpoint's order, how a worker breaks it, and what the checker says of it.
DISORDER = (("session", "publish_at_once", "came after"), ("serial", "run_at_once", "started"))


@pytest.mark.parametrize(("order", "how", "reason"), DISORDER)
def test_an_order_that_is_not_kept_turns_the_checker_red(
    cluster: Cluster, tmp_path: Path, order: str, how: str, reason: str
) -> None:
    found = run(cluster, tmp_path, how, send_sessions, (), replace(SHAPE, order=order))
    assert {violation.invariant for violation in found} == {"I9"}
    assert all(reason in violation.what for violation in found), found[:10]


@pytest.mark.parametrize("order", ["session", "serial", "none"])
def test_the_real_worker_keeps_each_order(cluster: Cluster, tmp_path: Path, order: str) -> None:
    assert run(cluster, tmp_path, "", send_sessions, (), replace(SHAPE, order=order)) == []
