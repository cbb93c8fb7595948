"""records/s through dispatcher and worker at once, with an engine that costs nothing, against the raw copy loop."""

from __future__ import annotations

import argparse

from benchmarks.counting import committed_records, metrics_url
from benchmarks.dispatcher import copy_loop
from benchmarks.machine import machine
from benchmarks.rounds import interleave
from benchmarks.small_records import record
from benchmarks.stage import Role, Stage, stage

CONFIG = '[endpoints.sim]\nengine = "simulated"\npartitions = 8\nworkers = %d\n'
RECORDS = 150_000
ROUNDS = 3
BAR = 0.20


def main(arguments: list[str]) -> int:
    """`two-hops [--workers N]`."""
    parser = argparse.ArgumentParser(prog="two-hops")
    parser.add_argument("--workers", type=int, default=1, help="processes of the endpoint")
    workers = parser.parse_args(arguments).workers
    print(machine())
    with stage(CONFIG % workers) as ground:
        contenders = Contenders(ground, workers)
        found = interleave(
            ROUNDS, "records/s", {"copy loop": contenders.copy_loop, "two hops": contenders.two_hops}
        )
    print("\n".join(found.lines("two hops", {"copy loop": BAR})))
    return 0


class Contenders:
    """Both start on `RECORDS` records that are already in their input."""

    def __init__(self, ground: Stage, workers: int) -> None:
        self._ground = ground
        self._workers = workers
        self._runs = 0
        ground.create("copy.target", 8)

    def copy_loop(self) -> float:
        self._runs += 1
        source = f"copy.source.{self._runs}"
        self._ground.create(source, 8)
        self._ground.fill(source, RECORDS, record)
        return copy_loop(self._ground, source, f"copy-{self._runs}", RECORDS)

    def two_hops(self) -> float:
        ground = self._ground
        slots = range(self._workers)
        roles: list[Role] = [
            ground.role("worker", "--endpoint", "sim", "--slot", str(slot)) for slot in slots
        ]
        try:
            urls = [
                metrics_url(ground.folder / "state", f"worker-sim-{slot:02d}", roles[slot].process.pid)
                for slot in slots
            ]
            ground.fill(ground.settings.inputs[0].pattern, RECORDS, record)
            roles.append(ground.role("dispatcher", "--slot", "0"))
            return ground.rate(lambda: sum(map(committed_records, urls)), RECORDS)
        finally:
            for role in reversed(roles):
                role.stop()
