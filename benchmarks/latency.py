"""What an idle installation adds to an interactive answer: produce to consume, less the direct engine call.

The bar holds for the simulated engine; with the real one (`latency --engine vllm`) the figure is reported.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

from confluent_kafka import Consumer, Producer

from benchmarks.counting import metrics_url
from benchmarks.machine import machine
from benchmarks.stage import Stage, stage
from schemas.lane import Lane
from schemas.request import Body, Message, Request, Task
from schemas.source import Source
from workers.endpoint import Endpoint
from workers.engines.base import Answer, Engine, EngineCall
from workers.engines.choose import engine_for

REQUESTS = 300
#: Without pauses: a Java broker that has just started interprets its code, and each transaction takes twice as long.
WARM_REQUESTS = 400
#: Idle time between requests, seconds, uniformly random.
PAUSE_S = (0.02, 0.3)
DECODE_TOKENS_PER_S = 200
CONFIGS = {
    "simulated": (
        '[endpoints.idle]\nengine = "simulated"\npartitions = 8\n'
        f"simulated = {{ decode_tokens_per_s = {DECODE_TOKENS_PER_S} }}\n"
    ),
    "vllm": (
        '[endpoints.idle]\nengine = "vllm"\nmodel = "smollm2-135m-instruct"\npartitions = 8\n'
        "options = { max_model_len = 2048 }\n"
    ),
}
LINE = (
    b'{"custom_id":"r-%d","method":"POST","url":"/v1/chat/completions","body":{"model":"idle","messages":'
    b'[{"role":"user","content":"hello %d"}],"max_tokens":8,"temperature":0}}'
)
BARS_MS = {50: 30.0, 99: 80.0}


class Times(NamedTuple):
    """Milliseconds per request."""

    ours: list[float]
    direct: list[float]


def main(arguments: list[str]) -> int:
    """`latency [--engine simulated|vllm]`."""
    parser = argparse.ArgumentParser(prog="latency")
    parser.add_argument("--engine", choices=tuple(CONFIGS), default="simulated")
    chosen = parser.parse_args(arguments)
    print(machine())
    with stage(CONFIGS[chosen.engine]) as ground:
        endpoint = ground.settings.endpoints["idle"]
        worker = ground.role("worker", "--endpoint", "idle", "--slot", "0")
        dispatcher = ground.role("dispatcher", "--slot", "0")
        try:
            state = ground.folder / "state"
            metrics_url(state, "worker-idle-00", worker.process.pid)
            metrics_url(state, "dispatcher-00", dispatcher.process.pid)
            ours = through_kafka(ground, LINE)
        finally:
            dispatcher.stop()
            worker.stop()
    report(Times(ours, asyncio.run(direct(endpoint, ground.folder))), bars=chosen.engine == "simulated")
    return 0


def through_kafka(ground: Stage, line: bytes) -> list[float]:
    """One request at a time, lane interactive, read committed; ms each."""
    producer = Producer({"bootstrap.servers": ground.bootstrap, "linger.ms": 0})
    consumer = Consumer(
        {
            "bootstrap.servers": ground.bootstrap,
            "group.id": "latency",
            "auto.offset.reset": "latest",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 5,
        }
    )
    consumer.subscribe([ground.settings.outputs.results])
    while not consumer.assignment():
        consumer.poll(0.2)
    times, chance = [], random.Random(1)
    for place in range(WARM_REQUESTS + REQUESTS):
        if place >= WARM_REQUESTS:
            time.sleep(chance.uniform(*PAUSE_S))
        begin = time.perf_counter()
        topic = ground.settings.inputs[0].pattern
        producer.produce(topic, line % (place, place), None, headers=[("headrace-lane", b"interactive")])
        producer.poll(0)
        while (message := consumer.poll(60)) is None or message.error():
            if message is None:
                raise TimeoutError(f"request {place} was not answered within 60 s")
        times.append((time.perf_counter() - begin) * 1000)
    consumer.close()
    return times[WARM_REQUESTS:]


async def direct(endpoint: Endpoint, state_dir: Path) -> list[float]:
    """The same requests, straight into an engine of its own; ms each."""
    engine: Engine = engine_for(endpoint, state_dir)
    await engine.start()
    times = []
    for place in range(WARM_REQUESTS + REQUESTS):
        body = Body("idle", messages=[Message("user", f"hello {place}")], max_tokens=8, temperature=0)
        call = EngineCall(
            str(place), Request(Task.CHAT, body), Source("t", 0, place), "default", Lane.INTERACTIVE
        )
        begin = time.perf_counter()
        answer = engine.submit(call)
        if not isinstance(answer, Answer):
            await answer
        times.append((time.perf_counter() - begin) * 1000)
    await engine.stop()
    return times[WARM_REQUESTS:]


def report(times: Times, *, bars: bool) -> None:
    for percent, bar in BARS_MS.items():
        ours, direct_ms = percentile(times.ours, percent), percentile(times.direct, percent)
        added = ours - direct_ms
        word = f"bar {bar:g}: {'met' if added <= bar else 'MISSED'}" if bars else "reported"
        print(f"  p{percent}: {ours:6.1f} ms, direct {direct_ms:6.1f} ms, added {added:6.1f} ms ({word})")


def percentile(values: Sequence[float], percent: int) -> float:
    return quantiles(values, n=100, method="inclusive")[percent - 1]
