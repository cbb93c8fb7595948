"""Spark Structured Streaming, which knows nothing of Headrace, counts each answered input of a chaos run once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Final

import pytest

from tests.chaos.moves.network import end_txn
from tests.chaos.moves.unrest import send_until
from tests.chaos.play.cluster import Cluster
from tests.chaos.play.judge import judge
from tests.chaos.play.scenario import prepared
from tests.chaos.play.scene import DRAIN_S, PATIENCE_S
from tests.chaos.proxy.faults import Action
from tests.chaos.spark.jars import connector_jars
from tests.chaos.spark.java import java_home

pytestmark = [pytest.mark.spark, pytest.mark.chaos, pytest.mark.timeout(900)]

JOB_TIMEOUT_S: Final = 400


def spark_jars() -> str:
    """Skips where they cannot be had, except in CI."""
    try:
        return ",".join(map(str, connector_jars()))
    except (OSError, RuntimeError, ValueError) as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"the jars of Spark's Kafka source cannot be had: {error}")


def test_spark_counts_each_input_once(cluster: Cluster, tmp_path: Path) -> None:
    jars = spark_jars()
    with prepared(cluster, tmp_path, Random(4)) as stage:
        stage.send(200)
        for action in (Action.KILL_BEFORE, Action.KILL_AFTER):
            end_txn(stage, stage.roles["worker-sim-00"], action, nth=2)
            # Work goes on coming in: while it was away, the other may have done all that there was.
            send_until(stage, {action: 1}, PATIENCE_S)
        stage.send_markers()
        judgement = judge(stage, drain_s=DRAIN_S, required=("hidden_records", "kill_before_end_txn"))
        assert judgement.violations == [], judgement.summary()
        command = [
            sys.executable,
            "-m",
            "tests.chaos.spark.job",
            cluster.direct,
            stage.installation.outputs[0],
        ]
        done = subprocess.run(
            [*command, str(tmp_path), jars],
            env={**os.environ, "JAVA_HOME": str(java_home(tmp_path))},
            capture_output=True,
            text=True,
            timeout=JOB_TIMEOUT_S,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    counted = json.loads(done.stdout.splitlines()[-1])
    answered = {
        str(source): 1 for source, record in judgement.evidence.inputs.items() if record.dies_as is None
    }
    assert counted == answered
