"""Processes that stop in the middle and go on later, as if nothing had been: their commits must fail or be right."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.chaos.check.bites import ALWAYS
from tests.chaos.moves.processes import freeze, freeze_at_point
from tests.chaos.moves.unrest import stir
from tests.chaos.play.cluster import Cluster
from tests.chaos.play.judge import judge
from tests.chaos.play.scenario import prepared
from tests.chaos.play.scene import DRAIN_S, PATIENCE_S

pytestmark = [pytest.mark.broker, pytest.mark.chaos, pytest.mark.timeout(900)]

#: Past the session timeout; past the transaction timeout and the broker's sweep.
SESSION_OVER_S, TRANSACTION_OVER_S = 5.0, 18.0


def test_a_zombie_publishes_nothing_of_what_it_has_lost(cluster: Cluster, tmp_path: Path) -> None:
    with prepared(cluster, tmp_path, Random(3)) as stage:
        for name in ("worker-sim-00", "dispatcher-00", "worker-sim-00"):
            stage.send(80)
            freeze(stage, stage.roles[name], SESSION_OVER_S, "zombie")
        for point, seconds in (
            ("begun", SESSION_OVER_S),
            ("offsets_sent", SESSION_OVER_S),
            ("produced", TRANSACTION_OVER_S),
        ):
            stage.send(80)
            freeze_at_point(stage, stage.roles["worker-sim-00"], point, seconds, patience_s=PATIENCE_S)
        stir(stage, stage.roles["worker-sim-01"])
        stage.send_markers()
        own = ("zombie", "freeze_at_begun", "freeze_at_offsets_sent", "freeze_at_produced")
        judgement = judge(stage, drain_s=DRAIN_S, required=(*ALWAYS, *own))
    assert judgement.violations == [], judgement.summary()
