"""Wall time of records of few keys against the same records without keys: order must not cost the slots.

Every call takes a second of a simulated engine that has a slot for each record.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

from confluent_kafka import Consumer, Producer

from benchmarks.counting import metrics_url
from benchmarks.machine import machine
from benchmarks.rounds import interleave
from benchmarks.stage import PATIENCE_S, Stage, stage

RECORDS = 30
KEYS = 3
CALL_S = 1.0
ROUNDS = 5
#: Keyed over keyless wall time, at most; the comparison counts rounds/minute, so its bar is the inverse.
RATIO_MAX = 1.3
CONFIG = '[endpoints.sim]\nengine = "simulated"\npartitions = 4\nslots = 32\norder = "{order}"\n'


def main(arguments: list[str]) -> int:
    """`keyed [--order session|serial|none]`."""
    parser = argparse.ArgumentParser(prog="keyed")
    parser.add_argument("--order", choices=("session", "serial", "none"), default="session")
    order = parser.parse_args(arguments).order
    print(machine())
    with stage(CONFIG.format(order=order)) as ground:
        worker = ground.role("worker", "--endpoint", "sim", "--slot", "0")
        dispatcher = ground.role("dispatcher", "--slot", "0")
        try:
            state = ground.folder / "state"
            metrics_url(state, "worker-sim-00", worker.process.pid)
            metrics_url(state, "dispatcher-00", dispatcher.process.pid)
            compare(ground)
        finally:
            dispatcher.stop()
            worker.stop()
    return 0


def compare(ground: Stage) -> None:
    asker = Asker(ground)
    asker.seconds(lambda _place: None)  # the first transactions of a fresh broker take longer
    comparison = interleave(
        ROUNDS,
        "runs/min",
        {
            f"{RECORDS} records of {KEYS} keys": lambda: (
                60 / asker.seconds(lambda place: b"%d" % (place % KEYS))
            ),
            f"{RECORDS} records without keys": lambda: 60 / asker.seconds(lambda _place: None),
        },
    )
    keyed, keyless = comparison.figures
    print("\n".join(comparison.lines(keyed, {keyless: 1 / RATIO_MAX})))
    print(f"  wall time, keyed over keyless: {comparison.ratio(keyless, keyed):.2f} (at most {RATIO_MAX})")


class Asker:
    """Sends the records and waits for their answers."""

    def __init__(self, ground: Stage) -> None:
        self._topic = ground.settings.inputs[0].pattern
        self._producer = Producer({"bootstrap.servers": ground.bootstrap, "linger.ms": 0})
        self._consumer = Consumer(
            {
                "bootstrap.servers": ground.bootstrap,
                "group.id": "keyed",
                "auto.offset.reset": "latest",
                "isolation.level": "read_committed",
                "fetch.wait.max.ms": 5,
            }
        )
        self._consumer.subscribe([ground.settings.outputs.results])
        while not self._consumer.assignment():
            self._consumer.poll(0.2)

    def seconds(self, key_of: Callable[[int], bytes | None]) -> float:
        """From the first record sent to the last answer read."""
        begin = time.perf_counter()
        for place in range(RECORDS):
            self._producer.produce(self._topic, line(place), key_of(place))
        self._producer.flush(PATIENCE_S)
        for place in range(RECORDS):
            while (message := self._consumer.poll(PATIENCE_S)) is None or message.error():
                if message is None:
                    raise TimeoutError(f"answer {place + 1} of {RECORDS} did not come within {PATIENCE_S} s")
        return time.perf_counter() - begin


def line(place: int) -> bytes:
    body = {
        "model": "sim",
        "messages": [{"role": "user", "content": f"hello {place}"}],
        "metadata": {"simulate": f"sleep:{CALL_S}"},
    }
    request = {"custom_id": f"r-{place}", "method": "POST", "url": "/v1/chat/completions", "body": body}
    return json.dumps(request).encode()
