"""records/s through dispatcher and worker at once, with an engine that costs nothing, against the raw copy loop."""

from __future__ import annotations

from benchmarks.counting import committed_records, metrics_url
from benchmarks.dispatcher import copy_loop
from benchmarks.machine import machine
from benchmarks.rounds import interleave
from benchmarks.small_records import record
from benchmarks.stage import Stage, stage

CONFIG = '[endpoints.sim]\nengine = "simulated"\npartitions = 8\n'
RECORDS = 150_000
ROUNDS = 3
BAR = 0.20


def main(_: list[str]) -> int:
    print(machine())
    with stage(CONFIG) as ground:
        contenders = Contenders(ground)
        found = interleave(
            ROUNDS, "records/s", {"copy loop": contenders.copy_loop, "two hops": contenders.two_hops}
        )
    print("\n".join(found.lines("two hops", {"copy loop": BAR})))
    return 0


class Contenders:
    """Both start on `RECORDS` records that are already in their input."""

    def __init__(self, ground: Stage) -> None:
        self._ground = ground
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
        worker = ground.role("worker", "--endpoint", "sim", "--slot", "0")
        dispatcher = None
        try:
            url = metrics_url(ground.folder / "state", "worker-sim-00", worker.process.pid)
            ground.fill(ground.settings.inputs[0].pattern, RECORDS, record)
            dispatcher = ground.role("dispatcher", "--slot", "0")
            return ground.rate(lambda: committed_records(url), RECORDS)
        finally:
            for role in (dispatcher, worker):
                if role is not None:
                    role.stop()
