"""`scripts/chaos --minutes N --seed S`: rounds of random faults, each judged whole, for as long as you like.

Each round has its own seed, printed first: `--seed S --rounds 1` plays one again. Instants depend on the machine,
so a replay draws the same faults and inputs, not the same interleaving. Exit code 1 after any violation (an end that no
supervisor mends is one), and where something never happened that a hunt of this length must show (`VOID`, tally.py).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Final

from tests.chaos.inputs.mix import Mix
from tests.chaos.moves import load, membership, network, processes
from tests.chaos.play.cluster import Cluster, running_cluster
from tests.chaos.play.installation import RESULT_BYTES_MAX, Shape
from tests.chaos.play.judge import Judgement, judge
from tests.chaos.play.scenario import prepared
from tests.chaos.play.stage import Stage
from tests.chaos.tally import Tally

Move = Callable[[Stage], None]

#: Weight of each move in a draw.
MOVES: Final[dict[Move, int]] = {
    processes.kill_at_random: 4,
    processes.kill_at_point: 5,
    network.end_txn_at_random: 8,
    processes.freeze_at_random: 2,
    processes.freeze_in_transaction: 2,
    processes.duel_at_random: 1,
    membership.leave_at_random: 2,
    membership.join: 2,
    network.sever: 1,
    network.partition_at_random: 1,
    network.slow: 1,
    network.kill_broker: 1,
    network.stop_broker: 1,
    load.flood: 2,
}
#: One round after the other.
ORDERS: Final = ("session", "serial", "none")
PLAY_S: Final = (45.0, 90.0)
#: Of engine time; longer than session and transaction timeouts.
LONG_S: Final = 60.0
DRAIN_S: Final = 240.0


def shape_of(rng: Random, dispatchers: int | None = None) -> Shape:
    """An installation like no other round's. Two dispatchers both own something."""
    dispatchers = dispatchers or rng.choice([1, 2])
    return Shape(
        dispatchers=dispatchers,
        input_partitions=rng.choice([1, 3, 4] if dispatchers == 1 else [3, 4]),
        work_partitions=rng.choice([4, 8, 12]),
        workers=rng.choice([1, 2, 3]),
        slots=rng.choice([8, 64]),
        session_timeout_ms=rng.choice([3_000, 5_000, 8_000]),
        commit_interval_ms=rng.choice([20, 100, 200]),
    )


def mix_of(rng: Random, shape: Shape) -> Mix:
    return Mix(
        partitions=shape.input_partitions,
        sessions=rng.choice([2, 12, 100]),
        session_share=rng.choice([0.1, 0.5, 0.9]),
        too_large_share=rng.choice([0.0, 0.02]),
        too_large_bytes=2 * RESULT_BYTES_MAX,
    )


def play(stage: Stage, seconds: float) -> None:
    """Records and faults in turn, until the time is over; some records take LONG_S."""
    rng = stage.rng
    deadline = time.monotonic() + seconds
    stage.send(20, replace(stage.mix, long_records=rng.randint(0, 3), long_s=LONG_S))
    while time.monotonic() < deadline:
        stage.send(rng.randint(10, 80))
        move = rng.choices(list(MOVES), weights=list(MOVES.values()))[0]
        tell(f"  {move.__name__}")
        move(stage)
        stage.play_for(rng.uniform(0.2, 3))
    stage.send_markers()


def play_round(cluster: Cluster, folder: Path, seed: int, dispatchers: int | None = None) -> Judgement:
    """One round from its seed. What must have bitten differs from round to round, so the whole hunt is asked."""
    rng = Random(seed)
    shape = replace(shape_of(rng, dispatchers), order=ORDERS[seed % len(ORDERS)])
    mix = mix_of(rng, shape)
    tell(f"round seed={seed} {shape} {mix}")
    with prepared(cluster, folder, rng, shape, mix) as stage:
        play(stage, rng.uniform(*PLAY_S))
        judgement = judge(stage, drain_s=DRAIN_S, required=())
    tell(f"  {judgement.summary()}")
    for violation in judgement.violations[:20]:
        tell(f"  VIOLATION {violation.invariant}: {violation.what}")
    return judgement


def tell(text: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stdout.flush()


def hunt(minutes: float, seed: int, rounds_max: int, folder: Path, dispatchers: int | None = None) -> Tally:
    """Rounds `seed`, `seed + 1`, … until the time or the rounds are over. Keeps the folders of failed rounds."""
    tally = Tally()
    began = time.monotonic()
    with running_cluster(folder / "broker", Random(seed)) as cluster:
        while tally.minutes < minutes and tally.rounds < rounds_max:
            number = seed + tally.rounds
            tally.add(number, play_round(cluster, folder / f"round-{number}", number, dispatchers))
            tally.minutes = (time.monotonic() - began) / 60
    return tally


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="scripts/chaos", description="random faults against the real roles")
    parser.add_argument("--minutes", type=float, default=10.0, help="rounds begin for so long (default 10)")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000, help="of the first round")
    parser.add_argument(
        "--rounds", type=int, default=1_000_000, help="at most so many (1 plays a seed again)"
    )
    parser.add_argument("--dispatchers", type=int, help="so many in each round (default: drawn, 1 or 2)")
    parser.add_argument("--folder", type=Path, help="where logs are kept (default: a new temporary folder)")
    chosen = parser.parse_args(arguments)
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="headrace-chaos-"))
    tell(f"seed {chosen.seed}, logs in {folder}")
    tally = hunt(chosen.minutes, chosen.seed, chosen.rounds, folder, chosen.dispatchers)
    tell(tally.report())
    return int(tally.is_red)


if __name__ == "__main__":
    sys.exit(main())
