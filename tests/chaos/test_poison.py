"""A record that kills its worker ends as one dead letter; its neighbours are answered."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.chaos.play.cluster import Cluster
from tests.chaos.play.judge import judge
from tests.chaos.play.scenario import prepared
from tests.chaos.play.scene import MIX, SHAPE

pytestmark = [pytest.mark.broker, pytest.mark.chaos, pytest.mark.timeout(900)]


def test_poison_is_isolated_and_its_neighbours_are_answered(cluster: Cluster, tmp_path: Path) -> None:
    shape = replace(SHAPE, workers=1, poison_deaths_max=3)
    with prepared(cluster, tmp_path, Random(12), shape) as stage:
        stage.send(150, replace(MIX, poison_records=2))
        stage.send_markers()
        judgement = judge(stage, drain_s=300, required=("worker_at_itself", "skipping_restarts"))
    assert judgement.violations == [], judgement.summary()
