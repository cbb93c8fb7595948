"""Output tokens/s of the main job on the real engine, against `vllm run-batch` and a plain consumer loop.

All three load the same model with the same engine settings and stay loaded; rounds take turns; only one works at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from typing import IO, Any
from uuid import uuid4

from benchmarks.counting import metrics_url
from benchmarks.machine import machine
from benchmarks.review_jobs import add_reviews_option, job
from benchmarks.rounds import interleave
from benchmarks.stage import Stage, stage
from stream.log.base import Output
from workers.endpoint import Endpoint
from workers.engines.vllm_args import cli_args, engine_args, engine_environment
from workers.models import cache_folder, resolve_model

ROUNDS = 3
BARS = {"vllm run-batch": 0.90, "plain loop": 2.5}
TIMEOUT_S = 600.0
CONFIG = '[endpoints.smollm2]\nengine = "vllm"\npartitions = 8\noptions = { max_model_len = 2048 }\n'


def main(arguments: list[str]) -> int:
    """`tokens [--rounds N] [--without-plain] [--reviews FILE]`: the plain loop takes four minutes a round on two cores."""
    parser = argparse.ArgumentParser(prog="tokens")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--without-plain", action="store_true")
    add_reviews_option(parser)
    chosen = parser.parse_args(arguments)
    print(machine())
    with stage(CONFIG) as ground:
        contenders = Contenders(ground, job("smollm2", chosen.reviews))
        runs = {"vllm run-batch": contenders.run_batch, "plain loop": contenders.plain}
        if chosen.without_plain:
            del runs["plain loop"]
        try:
            found = interleave(chosen.rounds, "tokens/s", {**runs, "headrace": contenders.headrace})
        finally:
            contenders.stop()
    print("\n".join(found.lines("headrace", {name: BARS[name] for name in runs})))
    return 0


class Rival:
    """The process with vLLM's own engine; takes orders."""

    def __init__(self, endpoint: Endpoint, log: IO[bytes]) -> None:
        folder = resolve_model(endpoint.model, cache_folder(os.environ))
        flags = [word for word in cli_args(engine_args(endpoint, folder)) if word != "--disable-log-stats"]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.rivals.vllm_rival", *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=os.environ | engine_environment(folder),
        )
        self._result()

    def order(self, **what: Any) -> float:
        """Carry it out; output tokens/s."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        found = self._result()
        return float(found["tokens"]) / float(found["seconds"])

    def stop(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait(60)

    def _result(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("RESULT "):
                found: dict[str, Any] = json.loads(line.removeprefix("RESULT "))
                return found
        raise RuntimeError(f"the rival ended with status {self._process.wait()}")


class Contenders:
    """Three ways to do the job of `review_jobs`."""

    def __init__(self, ground: Stage, lines: list[str]) -> None:
        self._ground = ground
        self._lines = lines
        self._file = ground.folder / "job.jsonl"
        self._file.write_text("\n".join(self._lines) + "\n", encoding="utf-8")
        for topic in ("plain.source", "plain.target"):
            ground.create(topic, 8)
        # One that is connected: a new idempotent one first waits half a second for its id.
        self._producer = ground.log.plain_producer()
        self._log = (ground.folder / "rival.log").open("wb")
        self._rival = Rival(ground.settings.endpoints["smollm2"], self._log)
        self._worker = ground.role("worker", "--endpoint", "smollm2", "--slot", "0")
        self._dispatcher = ground.role("dispatcher", "--slot", "0")
        metrics_url(ground.folder / "state", "worker-smollm2-00", self._worker.process.pid)
        metrics_url(ground.folder / "state", "dispatcher-00", self._dispatcher.process.pid)

    def run_batch(self) -> float:
        output = self._ground.folder / f"{uuid4()}.jsonl"
        return self._rival.order(do="run-batch", input=str(self._file), output=str(output))

    def plain(self) -> float:
        source = f"plain.{uuid4()}"
        self._ground.create(source, 8)
        self._produce(source)
        servers = self._ground.bootstrap
        return self._rival.order(
            do="plain", bootstrap=servers, topic=source, target="plain.target", count=len(self._lines)
        )

    def headrace(self) -> float:
        """From the first record produced, by a producer that is connected, to the last result visible."""
        outputs = self._ground.settings.outputs
        places = [
            place
            for topic in (outputs.results, outputs.dead_letters)
            for place in self._ground.partitions(topic)
        ]
        marks = self._ground.log.admin().watermarks(places, 30)
        reader = self._ground.log.reader({partition: mark.high for partition, mark in marks.items()})
        begin, tokens, answers = time.monotonic(), 0, 0
        self._produce(self._ground.settings.inputs[0].pattern)
        while answers < len(self._lines):
            if time.monotonic() - begin > TIMEOUT_S:
                raise TimeoutError(f"{answers} of {len(self._lines)} answers within {TIMEOUT_S:.0f} s")
            for record in reader.poll(500, 0.2).records:
                if record.topic() == outputs.dead_letters:
                    raise RuntimeError(f"a dead letter among the answers: {record.headers()}")
                tokens += json.loads(record.value() or b"")["response"]["body"]["usage"]["completion_tokens"]
                answers += 1
        seconds = time.monotonic() - begin
        reader.close()
        return tokens / seconds

    def stop(self) -> None:
        self._dispatcher.stop()
        self._worker.stop()
        self._rival.stop()
        self._producer.close()
        self._log.close()

    def _produce(self, topic: str) -> None:
        for line in self._lines:
            self._producer.send(Output(topic, None, line.encode(), []))
        self._producer.flush(30)
