"""The broker itself stops, dies, and comes back."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.chaos.check.bites import ALWAYS
from tests.chaos.moves.network import kill_broker, stop_broker
from tests.chaos.moves.unrest import stir
from tests.chaos.play.cluster import Cluster
from tests.chaos.play.judge import judge
from tests.chaos.play.scenario import prepared
from tests.chaos.play.scene import DRAIN_S

pytestmark = [pytest.mark.broker, pytest.mark.chaos, pytest.mark.timeout(900)]


def test_a_broker_that_goes_and_comes_back_has_lost_nothing(cluster: Cluster, tmp_path: Path) -> None:
    with prepared(cluster, tmp_path, Random(10)) as stage:
        for fault in (stop_broker, kill_broker):
            stage.send(100)
            stage.play_for(1.0)
            fault(stage)
            stage.play_for(2.0)
        stir(stage, stage.roles["worker-sim-01"])
        stage.send_markers()
        judgement = judge(stage, drain_s=DRAIN_S, required=(*ALWAYS, "broker_stopped", "broker_killed"))
    assert judgement.violations == [], judgement.summary()
