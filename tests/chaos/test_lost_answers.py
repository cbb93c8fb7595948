"""The broker's word about a commit gets lost, comes late, or a request comes again when nobody expects it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.chaos.check.bites import ALWAYS
from tests.chaos.moves.network import end_txn, partition, sever
from tests.chaos.moves.unrest import send_until, stir
from tests.chaos.play.cluster import Cluster
from tests.chaos.play.judge import judge
from tests.chaos.play.scenario import prepared
from tests.chaos.play.scene import DRAIN_S, PATIENCE_S, SHAPE
from tests.chaos.proxy.faults import Action

pytestmark = [pytest.mark.broker, pytest.mark.chaos, pytest.mark.timeout(900)]


def test_a_lost_or_late_answer_is_reconciled(cluster: Cluster, tmp_path: Path) -> None:
    actions = (Action.STRAY, Action.SEVER_RESPONSE, Action.DELAY_RESPONSE, Action.STRAY)
    wanted = Counter(f"{kind}_{action}" for kind in ("worker", "dispatcher") for action in actions)
    with prepared(cluster, tmp_path, Random(8)) as stage:
        strays_before = len(cluster.proxy.stray_answers)
        for name in ("worker-sim-00", "dispatcher-00"):
            role = stage.roles[name]
            for nth, action in enumerate(actions, start=2):
                end_txn(stage, role, action, 4 * nth, delay_s=2.0)
        send_until(stage, wanted, timeout_s=2 * PATIENCE_S)
        sever(stage)
        stage.send(60)
        partition(stage, seconds=5.0)
        stir(stage, stage.roles["worker-sim-01"])
        stage.send_markers()
        judgement = judge(stage, drain_s=DRAIN_S, required=(*ALWAYS, *wanted))
        believed = [code for code in cluster.proxy.stray_answers[strays_before:] if code == 0]
    assert judgement.violations == [], judgement.summary()
    assert believed == [], "the broker believed a stray EndTxn: its sender kept its epoch"


def test_a_commit_that_outlasts_the_poll_interval_is_reconciled(cluster: Cluster, tmp_path: Path) -> None:
    """Nothing comes back for 15 s: the group has long gone on when the worker hears again."""
    shape = replace(SHAPE, poll_interval_ms=6_000)
    with prepared(cluster, tmp_path, Random(9), shape) as stage:
        end_txn(stage, stage.roles["worker-sim-00"], Action.DROP_RESPONSE, nth=5)
        end_txn(stage, stage.roles["dispatcher-00"], Action.DROP_RESPONSE, nth=5)
        wanted = {f"{kind}_{Action.DROP_RESPONSE}": 1 for kind in ("worker", "dispatcher")}
        send_until(stage, wanted, timeout_s=PATIENCE_S)
        stage.play_for(16.0)
        stir(stage, stage.roles["worker-sim-01"])
        stage.send_markers()
        judgement = judge(stage, drain_s=DRAIN_S, required=(*ALWAYS, *wanted))
    assert judgement.violations == [], judgement.summary()
    worker = stage.roles["worker-sim-00"]
    _, passed, later = worker.log_file.read_text().partition(
        "Application maximum poll interval (6000ms) exceeded"
    )
    assert passed, "the interval was not passed"
    assert "assigned" in later, "it has not joined again"
    assert worker.endings == [0], "another process did that"
