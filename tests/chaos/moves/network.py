"""Faults between clients and broker: lost and late answers, cut and slow connections, a broker that goes."""

from __future__ import annotations

import time

from tests.chaos.moves.processes import any_role
from tests.chaos.play.role import Role
from tests.chaos.play.stage import Stage
from tests.chaos.proxy.faults import Action, EndTxnFault


def end_txn(stage: Stage, role: Role, action: Action, nth: int = 1, delay_s: float = 0.0) -> None:
    """One of the next commits of `role` meets `action`."""
    stage.cluster.proxy.plan.inject(EndTxnFault(role.transactional_id, action, nth, delay_s))


def end_txn_at_random(stage: Stage) -> None:
    role = any_role(stage)
    if role is not None:
        action = stage.rng.choice(list(Action))
        end_txn(stage, role, action, stage.rng.randint(1, 5), stage.rng.choice([0.3, 2.0, 8.0]))


def sever(stage: Stage) -> None:
    """Every connection at once."""
    stage.cluster.proxy.sever()
    stage.bitten["severed"] += 1


def partition(stage: Stage, seconds: float) -> None:
    """Nobody reaches the broker for a while."""
    stage.cluster.proxy.shut()
    stage.play_for(seconds)
    stage.cluster.proxy.reopen()
    stage.bitten["network_partition"] += 1


def partition_at_random(stage: Stage) -> None:
    """Sometimes longer than the session timeout."""
    partition(stage, stage.rng.choice([1.0, 3.0, 8.0]))


def slow(stage: Stage) -> None:
    """Every request waits before it goes on."""
    stage.cluster.proxy.latency_s = stage.rng.uniform(0.02, 0.3)
    stage.play_for(3.0)
    stage.cluster.proxy.latency_s = 0.0
    stage.bitten["slow_network"] += 1


def kill_broker(stage: Stage) -> None:
    """SIGKILL; what it had acknowledged is still there."""
    stage.cluster.broker.kill()
    stage.play_for(stage.rng.uniform(0, 3))
    stage.cluster.broker.start()
    stage.bitten["broker_killed"] += 1


def stop_broker(stage: Stage) -> None:
    stage.cluster.broker.stop()
    time.sleep(0.5)
    stage.cluster.broker.start()
    stage.bitten["broker_stopped"] += 1
