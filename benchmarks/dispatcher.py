"""records/s of the dispatcher, one process, against the raw copy loop; both on a topic that is already full."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.machine import machine
from benchmarks.rounds import interleave
from benchmarks.small_records import record
from benchmarks.stage import Stage, stage

CONFIG = '[endpoints.sim]\nengine = "simulated"\npartitions = 8\n'
RECORDS = 200_000
ROUNDS = 3
BAR = 0.60


def main(_: list[str]) -> int:
    print(machine())
    with stage(CONFIG) as ground:
        contenders = Contenders(ground)
        found = interleave(
            ROUNDS, "records/s", {"copy loop": contenders.copy_loop, "dispatcher": contenders.dispatcher}
        )
    print("\n".join(found.lines("dispatcher", {"copy loop": BAR})))
    return 0


class Contenders:
    """Both read `RECORDS` records that were produced just before."""

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

    def dispatcher(self) -> float:
        ground = self._ground
        topic, group = ground.settings.inputs[0].pattern, ground.settings.dispatcher_group
        ground.fill(topic, RECORDS, record)
        marks = ground.log.admin().watermarks(ground.partitions(topic), 30)
        role = ground.role("dispatcher", "--slot", "0")
        try:
            return ground.rate(
                lambda: ground.committed(group, [topic]), sum(mark.high for mark in marks.values())
            )
        finally:
            role.stop()


def copy_loop(ground: Stage, source: str, group: str, count: int) -> float:
    """The rival as its own process; records/s."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.rivals.copy_loop",
        ground.bootstrap,
        source,
        "copy.target",
        group,
    ]
    done = subprocess.run([*command, str(count)], capture_output=True, text=True, timeout=300, check=True)
    return float(done.stdout)
