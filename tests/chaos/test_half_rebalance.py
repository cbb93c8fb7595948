"""A dispatcher that dies in the middle of a rebalance, and is back within its session: every partition has a reader."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from confluent_kafka.admin import AdminClient

from tests.chaos.moves.network import end_txn
from tests.chaos.play.cluster import Cluster
from tests.chaos.play.scenario import prepared
from tests.chaos.play.scene import PATIENCE_S, SHAPE
from tests.chaos.play.stage import Stage
from tests.chaos.proxy.faults import Action

pytestmark = [pytest.mark.broker, pytest.mark.chaos, pytest.mark.timeout(600)]

#: It waits in vain for about half of this, then joins by itself.
JOIN_S = 30.0
PARTITIONS = 4


def test_a_dispatcher_that_dies_in_a_rebalance_and_is_back_leaves_no_partition_unread(
    cluster: Cluster, tmp_path: Path
) -> None:
    """With the cooperative protocol, two partitions were read by nobody afterwards."""
    shape = replace(SHAPE, session_timeout_ms=8_000)
    with prepared(cluster, tmp_path, Random(1), shape) as stage:
        first = stage.roles["dispatcher-00"]
        stage.send(40)
        assert stage.drain(PATIENCE_S)
        end_txn(stage, first, Action.DROP_RESPONSE)
        stage.send(20)
        assert stage.wait_for(Action.DROP_RESPONSE, 1, PATIENCE_S)  # it waits for an answer that never comes
        stage.dispatcher(1).start()
        until_s = time.monotonic() + JOIN_S
        while len(_owned(stage).get("00", range(PARTITIONS))) == PARTITIONS and time.monotonic() < until_s:
            time.sleep(0.1)
        stage.kill(first)
        stage.revive()
        stage.send(40)
        assert stage.drain(PATIENCE_S)
        # A second dispatcher that was slow to start may join only now, and nobody owns anything for a moment.
        until_s = time.monotonic() + PATIENCE_S
        while _all_owned(stage) != list(range(PARTITIONS)) and time.monotonic() < until_s:
            time.sleep(0.1)
        assert _all_owned(stage) == list(range(PARTITIONS))


def _all_owned(stage: Stage) -> list[int]:
    return sorted(partition for partitions in _owned(stage).values() for partition in partitions)


def _owned(stage: Stage) -> dict[str, list[int]]:
    """Slot -> its input partitions, as the group's coordinator says."""
    group = stage.installation.dispatcher_group
    admin = AdminClient({"bootstrap.servers": stage.cluster.direct})
    found = admin.describe_consumer_groups([group])[group].result(PATIENCE_S)
    return {
        str(member.group_instance_id)[-2:]: [place.partition for place in member.assignment.topic_partitions]
        for member in found.members
    }
