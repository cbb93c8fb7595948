"""The group changes with work in flight: twins, newcomers, leavers, static restarts."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.chaos.check.bites import ALWAYS
from tests.chaos.moves.membership import LATENCY_S, come_and_go, leave_and_return
from tests.chaos.moves.processes import duel
from tests.chaos.moves.unrest import stir
from tests.chaos.play.cluster import Cluster
from tests.chaos.play.judge import judge
from tests.chaos.play.scenario import prepared
from tests.chaos.play.scene import DRAIN_S, PATIENCE_S

pytestmark = [pytest.mark.broker, pytest.mark.chaos, pytest.mark.timeout(900)]

#: Each of two newcomers comes while a transaction is open; that they also leave so, their own bites say.
REBALANCES = 2
JOINS = 2


def test_who_comes_and_goes_changes_nothing(cluster: Cluster, tmp_path: Path) -> None:
    with prepared(cluster, tmp_path, Random(5)) as stage:
        for kind in ("worker-sim-00", "dispatcher-00"):
            stage.send(60)
            duel(stage, stage.roles[kind])
        stage.send(80)
        come_and_go(stage, "worker", killed=False, join_s=PATIENCE_S, work_s=PATIENCE_S)
        cluster.proxy.latency_s = LATENCY_S
        for name, seconds in (("worker-sim-00", 0.0), ("worker-sim-01", 5.0), ("dispatcher-00", 0.0)):
            stage.send(60)
            leave_and_return(stage, stage.roles[name], seconds, PATIENCE_S)
        cluster.proxy.latency_s = 0.0
        stir(stage, stage.roles["worker-sim-01"])
        stage.send_markers()
        own = (
            "twin_fenced",
            "worker_join",
            "worker_leave",
            "worker_clean_restart",
            "dispatcher_clean_restart",
        )
        judgement = judge(stage, drain_s=DRAIN_S, required=(*ALWAYS, *own))
    assert judgement.violations == [], judgement.summary()
    assert stage.bites["twin_fenced"] == 2


def test_a_second_dispatcher_joins_and_leaves_and_dies_with_transactions_under_way(
    cluster: Cluster, tmp_path: Path
) -> None:
    with prepared(cluster, tmp_path, Random(6)) as stage:
        cluster.proxy.latency_s = LATENCY_S
        for killed in (False, True, False, True):  # on a busy machine a join may find no transaction open
            come_and_go(stage, "dispatcher", killed=killed, join_s=PATIENCE_S, work_s=PATIENCE_S)
            if killed and stage.bites["dispatcher_join"] >= JOINS:
                break
        cluster.proxy.latency_s = 0.0
        stir(stage, stage.roles["worker-sim-01"])
        stage.send_markers()
        own = ("dispatcher_join", "dispatcher_leave", "dispatcher_die_in_transaction")
        judgement = judge(stage, drain_s=DRAIN_S, required=(*ALWAYS, *own))
    assert judgement.violations == [], judgement.summary()
    assert stage.bites["dispatcher_join"] >= JOINS
    assert stage.bites["dispatcher_rebalance_in_transaction"] >= REBALANCES
