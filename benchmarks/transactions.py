"""What transactions cost the worker: itself against itself at least once, both fed by the same dispatcher.

Two endpoints of the same model with one worker each; rounds take turns, only one works at a time. The bar holds for
the real engine; with the zero-cost one (`transactions --engine simulated`) the figure is reported.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from benchmarks.counting import committed_records, metrics_url
from benchmarks.machine import machine
from benchmarks.review_jobs import add_reviews_option, job
from benchmarks.rounds import interleave
from benchmarks.small_records import records_for
from benchmarks.stage import Role, Stage, stage
from schemas.lane import Lane

NAMES = {"exactly": "exactly once", "least": "at least once"}
ROUNDS = 3
RECORDS = 100_000
BAR = 0.98
TIMEOUT_S = 600.0
_VLLM = 'engine = "vllm"\npartitions = 8\noptions = { max_model_len = 2048 }\n'
_SIMULATED = 'engine = "simulated"\npartitions = 8\n'


def main(arguments: list[str]) -> int:
    """`transactions [--engine vllm|simulated] [--rounds N] [--reviews FILE]`."""
    parser = argparse.ArgumentParser(prog="transactions")
    parser.add_argument("--engine", choices=("vllm", "simulated"), default="vllm")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    add_reviews_option(parser)
    chosen = parser.parse_args(arguments)
    print(machine())
    options = _VLLM if chosen.engine == "vllm" else _SIMULATED
    with stage("\n".join(f"[endpoints.{name}]\n{options}" for name in NAMES)) as ground:
        contenders = Contenders(ground, chosen.reviews)
        run = contenders.reviews if chosen.engine == "vllm" else contenders.small
        try:
            found = interleave(
                chosen.rounds,
                "records/s",
                {"at least once": lambda: run("least"), "exactly once": lambda: run("exactly")},
            )
        finally:
            contenders.stop()
    print("\n".join(found.lines("exactly once", {"at least once": BAR})))
    return 0


class Contenders:
    """One dispatcher, and a worker of each kind."""

    def __init__(self, ground: Stage, reviews: Path | None) -> None:
        self._ground = ground
        self._reviews = reviews
        self._dispatcher = ground.role("dispatcher", "--slot", "0")
        self._workers: dict[str, Role] = {}

    def reviews(self, name: str) -> float:
        """The review job through the real engine, which stays loaded; records/s from the first one produced."""
        url = self._worker(name)
        before, lines = committed_records(url), job(name, self._reviews)
        topic = self._ground.settings.inputs[0].pattern
        begin = time.monotonic()
        self._ground.fill(topic, len(lines), lambda place: (None, lines[place].encode()))
        while committed_records(url) - before < len(lines):
            if time.monotonic() - begin > TIMEOUT_S:
                raise TimeoutError(f"{name} did not do {len(lines)} records within {TIMEOUT_S:.0f} s")
            time.sleep(0.05)
        return len(lines) / (time.monotonic() - begin)

    def small(self, name: str) -> float:
        """`RECORDS` small records that are in the work topic before the worker starts."""
        ground = self._ground
        work = ground.settings.work_topic(name, Lane.BATCH)
        wanted = self._written(work) + RECORDS
        ground.fill(ground.settings.inputs[0].pattern, RECORDS, records_for(name))
        while (
            self._written(work) < wanted
        ):  # markers count too: a few too early, which the worker's start makes up for
            time.sleep(0.2)
        url = self._worker(name)
        rate = ground.rate(lambda: committed_records(url), RECORDS)
        self._workers.pop(name).stop()
        return rate

    def stop(self) -> None:
        for role in (self._dispatcher, *self._workers.values()):
            role.stop()

    def _written(self, topic: str) -> int:
        marks = self._ground.log.admin().watermarks(self._ground.partitions(topic), 30)
        return sum(mark.high for mark in marks.values())

    def _worker(self, name: str) -> str:
        """Where its metrics are; started if it does not run."""
        if name not in self._workers:
            words = ("--endpoint", name, "--slot", "0")
            if name == "exactly":
                self._workers[name] = self._ground.role("worker", *words)
            else:
                self._workers[name] = self._ground.process("benchmarks.rivals.at_least_once", *words)
        process = self._workers[name].process
        return metrics_url(self._ground.folder / "state", f"worker-{name}-00", process.pid)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
