"""Resident memory of dispatcher and worker over a million records: flat means that nothing grows with time.

What is resident breathes by some MiB with the buffers of the moment, so each figure is a median over a window of records.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import psutil

from benchmarks.counting import committed_records, metrics_url
from benchmarks.machine import machine
from benchmarks.small_records import record
from benchmarks.stage import Role, Stage, stage

CONFIG = '[endpoints.sim]\nengine = "simulated"\npartitions = 8\n'
RECORDS = 1_000_000
WARM_RECORDS = 200_000
WINDOW_RECORDS = 100_000
GROWTH_MAX = 0.05
SAMPLE_S = 0.25
TIMEOUT_S = 1_500.0


class Sample(NamedTuple):
    """Records committed so far and resident bytes of each role."""

    done: int
    resident: dict[str, int]


def main(arguments: list[str]) -> int:
    count = int(arguments[0]) if arguments else RECORDS
    print(machine())
    with stage(CONFIG) as ground:
        worker = ground.role("worker", "--endpoint", "sim", "--slot", "0")
        dispatcher = ground.role("dispatcher", "--slot", "0")
        try:
            return report(_watch(ground, {"dispatcher": dispatcher, "worker": worker}, count), count)
        finally:
            dispatcher.stop()
            worker.stop()


def _watch(ground: Stage, roles: dict[str, Role], count: int) -> list[Sample]:
    url = metrics_url(ground.folder / "state", "worker-sim-00", roles["worker"].process.pid)
    topic = ground.settings.inputs[0].pattern
    threading.Thread(target=ground.fill, args=(topic, count, record), daemon=True).start()
    samples: list[Sample] = []
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        samples.append(Sample(committed_records(url), _resident(roles)))
        if samples[-1].done >= count:
            break
        time.sleep(SAMPLE_S)
    return samples


def _resident(roles: dict[str, Role]) -> dict[str, int]:
    """Bytes."""
    return {name: psutil.Process(role.process.pid).memory_info().rss for name, role in roles.items()}


def report(samples: Sequence[Sample], count: int) -> int:
    """Print the windows; 0 where every role is flat."""
    print(f"{samples[-1].done:,} of {count:,} records committed")
    flat = samples[-1].done >= count
    for name in samples[-1].resident:
        windows = _windows([s for s in samples if s.done < count], name)
        if len(windows) < 2:
            raise SystemExit(
                f"{samples[-1].done:,} records are too few: two windows of {WINDOW_RECORDS:,} from {WARM_RECORDS:,} on"
            )
        growth = windows[-1] / windows[0] - 1
        flat = flat and growth <= GROWTH_MAX
        word = "met" if growth <= GROWTH_MAX else "MISSED"
        print(
            f"  {name:<12} MiB by {WINDOW_RECORDS:,} records from {WARM_RECORDS:,} on: {' '.join(f'{w:.1f}' for w in windows)}"
        )
        print(f"  {'':<12} {growth:+.1%} (bar {GROWTH_MAX:+.0%}: {word})")
    return 0 if flat else 1


def _windows(samples: Sequence[Sample], name: str) -> list[float]:
    """MiB, the median of each window that was sampled."""
    found = defaultdict(list)
    for sample in samples:
        if sample.done >= WARM_RECORDS:
            found[(sample.done - WARM_RECORDS) // WINDOW_RECORDS].append(sample.resident[name])
    return [median(found[number]) / 2**20 for number in sorted(found)]
