"""SIGKILL at every named point of a transaction, and at instants that nobody chose: nothing lost, nothing twice."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.chaos.check.bites import ALWAYS
from tests.chaos.moves.network import end_txn
from tests.chaos.moves.processes import kill_at_random
from tests.chaos.moves.unrest import send_until, stir
from tests.chaos.play.cluster import Cluster
from tests.chaos.play.judge import judge
from tests.chaos.play.scenario import prepared
from tests.chaos.play.scene import DRAIN_S, PATIENCE_S
from tests.chaos.proxy.faults import Action

pytestmark = [pytest.mark.broker, pytest.mark.chaos, pytest.mark.timeout(900)]

#: The dispatcher's answers are ready at once: it has no point `done`.
POINTS = {
    "worker-sim-00": ("done", "begun", "produced", "offsets_sent", "committed"),
    "dispatcher-00": ("begun", "produced", "offsets_sent", "committed"),
}


def test_a_kill_at_each_point_of_the_commit(cluster: Cluster, tmp_path: Path) -> None:
    wanted = {
        f"{name.partition('-')[0]}_at_{point}": 1 for name, points in POINTS.items() for point in points
    }
    with prepared(cluster, tmp_path, Random(1)) as stage:
        for name, points in POINTS.items():
            stage.roles[name].fault_points.extend(f"{point}:kill:5" for point in points)
            stage.kill(stage.roles[name])
        send_until(stage, wanted, timeout_s=2 * PATIENCE_S)
        stir(stage, stage.roles["worker-sim-01"])
        stage.send_markers()
        judgement = judge(stage, drain_s=DRAIN_S, required=(*ALWAYS, *wanted))
    assert judgement.violations == [], judgement.summary()


def test_a_kill_before_and_after_end_txn_and_at_random_instants(cluster: Cluster, tmp_path: Path) -> None:
    actions = (Action.KILL_BEFORE, Action.KILL_AFTER)
    wanted = {f"{kind}_{action}": 1 for kind in ("worker", "dispatcher") for action in actions}
    with prepared(cluster, tmp_path, Random(2)) as stage:
        for name in POINTS:
            for nth, action in enumerate(actions, start=2):
                end_txn(stage, stage.roles[name], action, nth)
        send_until(stage, wanted, timeout_s=PATIENCE_S)
        for _ in range(8):
            stage.send(30)
            stage.play_for(stage.rng.uniform(0.1, 1.5))
            kill_at_random(stage)
        stir(stage, stage.roles["worker-sim-01"])
        stage.send_markers()
        judgement = judge(stage, drain_s=DRAIN_S, required=(*ALWAYS, *wanted, "worker_kill"))
    assert judgement.violations == [], judgement.summary()
