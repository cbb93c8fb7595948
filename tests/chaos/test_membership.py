"""The group changes with work in flight: twins, newcomers, leavers, static restarts."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.chaos.check.bites import ALWAYS
from tests.chaos.moves.processes import duel, join, leave_and_return
from tests.chaos.moves.unrest import stir
from tests.chaos.play.cluster import Cluster
from tests.chaos.play.judge import judge
from tests.chaos.play.scenario import prepared
from tests.chaos.play.scene import DRAIN_S

pytestmark = [pytest.mark.broker, pytest.mark.chaos, pytest.mark.timeout(400)]


def test_who_comes_and_goes_changes_nothing(cluster: Cluster, tmp_path: Path) -> None:
    with prepared(cluster, tmp_path, Random(5)) as stage:
        for kind in ("worker-sim-00", "dispatcher-00"):
            stage.send(60)
            duel(stage, stage.roles[kind])
        stage.send(80)
        join(stage)
        for name, seconds in (("worker-sim-00", 0.0), ("worker-sim-01", 5.0), ("dispatcher-00", 0.0)):
            stage.send(60)
            leave_and_return(stage, stage.roles[name], seconds)
        stir(stage, stage.roles["worker-sim-01"])
        stage.send_markers()
        own = ("twin_fenced", "join_and_leave", "clean_restart")
        judgement = judge(stage, drain_s=DRAIN_S, required=(*ALWAYS, *own))
    assert judgement.violations == [], judgement.summary()
    assert stage.bites["twin_fenced"] == 2
    # A twin that met an older one which made its producer anew: that one has lost the group, and is started again.
    assert [told for told in judgement.surprises if not told.endswith(" ended with 1")] == []
