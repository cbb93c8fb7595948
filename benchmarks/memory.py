"""Resident memory of dispatcher and worker over a million records: flat means that nothing grows with time."""

from __future__ import annotations

import threading
import time

import psutil

from benchmarks.counting import committed_records, metrics_url
from benchmarks.machine import machine
from benchmarks.small_records import record
from benchmarks.stage import Role, Stage, stage

CONFIG = '[endpoints.sim]\nengine = "simulated"\npartitions = 8\n'
RECORDS = 1_000_000
WARM_RECORDS = 200_000
GROWTH_MAX = 0.05
SAMPLE_S = 1.0
TIMEOUT_S = 1_500.0


def main(arguments: list[str]) -> int:
    count = int(arguments[0]) if arguments else RECORDS
    print(machine())
    with stage(CONFIG) as ground:
        worker = ground.role("worker", "--endpoint", "sim", "--slot", "0")
        dispatcher = ground.role("dispatcher", "--slot", "0")
        try:
            return _watch(ground, {"dispatcher": dispatcher, "worker": worker}, count)
        finally:
            dispatcher.stop()
            worker.stop()


def _watch(ground: Stage, roles: dict[str, Role], count: int) -> int:
    url = metrics_url(ground.folder / "state", "worker-sim-00", roles["worker"].process.pid)
    topic = ground.settings.inputs[0].pattern
    feeder = threading.Thread(target=ground.fill, args=(topic, count, record), daemon=True)
    feeder.start()
    warm: dict[str, int] = {}
    deadline = time.monotonic() + TIMEOUT_S
    while (done := committed_records(url)) < count and time.monotonic() < deadline:
        if done >= WARM_RECORDS and not warm:
            warm = _resident(roles)
        time.sleep(SAMPLE_S)
    return _report(done, count, warm, _resident(roles))


def _resident(roles: dict[str, Role]) -> dict[str, int]:
    """Bytes."""
    return {name: psutil.Process(role.process.pid).memory_info().rss for name, role in roles.items()}


def _report(done: int, count: int, warm: dict[str, int], end: dict[str, int]) -> int:
    print(f"{done:,} of {count:,} records committed")
    flat = done == count
    for name, size in end.items():
        growth = size / warm[name] - 1
        flat = flat and growth <= GROWTH_MAX
        print(
            f"  {name:<12} {warm[name] / 2**20:7.1f} MiB at {WARM_RECORDS:,}, {size / 2**20:7.1f} MiB at the end: "
            f"{growth:+.1%} (bar {GROWTH_MAX:+.0%}: {'met' if growth <= GROWTH_MAX else 'MISSED'})"
        )
    return 0 if flat else 1
