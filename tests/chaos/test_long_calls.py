"""Calls longer than every timeout: what overtakes them is published at once, and only they run again."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.chaos.check.bites import ALWAYS
from tests.chaos.moves.unrest import stir
from tests.chaos.play.cluster import Cluster
from tests.chaos.play.judge import judge
from tests.chaos.play.scenario import prepared
from tests.chaos.play.scene import DRAIN_S, MIX, PATIENCE_S
from tests.chaos.play.starts import began_since, starts

pytestmark = [pytest.mark.broker, pytest.mark.chaos, pytest.mark.timeout(900)]

LONG_S = 60.0
LONG, LONGS = b'"sleep:60.0"', 4
#: From the first start of a call: the long ones end ten seconds later at the earliest.
OVERTAKEN_TIMEOUT_S = 50.0


def test_a_minute_long_call_holds_nobody_up_and_survives_a_kill(cluster: Cluster, tmp_path: Path) -> None:
    with prepared(cluster, tmp_path, Random(11)) as stage:
        stage.send(200, replace(MIX, session_share=0.0, long_records=LONGS, long_s=LONG_S))
        deadline = time.monotonic() + PATIENCE_S
        while not any(starts(tmp_path).values()):
            assert time.monotonic() < deadline, "no worker has begun"
            stage.play_for(0.1)
        deadline = time.monotonic() + OVERTAKEN_TIMEOUT_S
        while stage.outputs_seen < 196 and time.monotonic() < deadline:
            stage.play_for(0.5)
        assert stage.outputs_seen == 196, "the quick ones wait for the long ones"
        for role in list(stage.roles.values()):
            stage.kill(role)
        begun = starts(tmp_path)
        stage.revive()
        stir(stage, stage.roles["worker-sim-01"])
        stage.send_markers()
        judgement = judge(stage, drain_s=LONG_S + DRAIN_S, required=(*ALWAYS, "kill"))
    assert judgement.violations == [], judgement.summary()
    known = {source for kept in begun.values() for source in kept}
    again = known.intersection(began_since(tmp_path, begun))
    inputs = judgement.evidence.inputs
    assert again == {source for source in known if LONG in (inputs[source].value or b"")}, (
        "only they run again"
    )
    assert len(again) == LONGS
