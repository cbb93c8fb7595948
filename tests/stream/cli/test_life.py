"""One installation from `up` to its end, as a person uses it: other commands find it by its state directory."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stream.cli.conftest import Run

pytestmark = pytest.mark.broker

CONFIG = """
[endpoints.sim]
engine = "simulated"
partitions = 2
slots = 4
simulated = { prefill_tokens_per_s = 0, decode_tokens_per_s = 0 }
"""
RECORDS = 20


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "stream", *words]


@pytest.fixture
def up(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    config = tmp_path / "sim.toml"
    config.write_text(CONFIG)
    words = command("up", "-c", str(config), "--state-dir", str(tmp_path / "state"))
    with (tmp_path / "up.log").open("w") as log:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, text=True)
    with process:
        yield process
        if process.poll() is None:
            process.terminate()
            process.wait(150)


def line(number: int) -> str:
    # The first one is slow: it is still in its engine when all others are answered and everything was asked.
    metadata = {"simulate": "sleep:120"} if number == 0 else {}
    messages = [{"role": "user", "content": f"record {number}"}]
    body = {"model": "sim", "messages": messages, "metadata": metadata}
    return json.dumps(
        {"custom_id": f"r-{number}", "method": "POST", "url": "/v1/chat/completions", "body": body}
    )


def test_records_go_in_and_come_out_and_can_be_found_on_their_way(
    up: subprocess.Popen[str], run: Run, tmp_path: Path
) -> None:
    assert up.stdout is not None
    assert up.stdout.readline().startswith("ready bootstrap="), (tmp_path / "up.log").read_text()
    state = ("--state-dir", str(tmp_path / "state"))
    (tmp_path / "in").write_text("\n".join([*(line(number) for number in range(RECORDS)), "nonsense"]))
    assert run("produce", "headrace.requests", str(tmp_path / "in"), *state).code == 0
    count = ("--count", str(RECORDS - 1), "--timeout", "90")
    results = run("consume", "headrace.results", *count, *state)
    assert (results.code, results.err) == (0, "")
    assert {one["value"]["custom_id"] for one in results.lines} == {
        f"r-{number}" for number in range(1, RECORDS)
    }

    assert run("consume", "headrace.dead-letters", "--count", "1", "--timeout", "60", *state).code == 0
    until_s = time.monotonic() + 60
    while time.monotonic() < until_s:  # workers tell what runs once a second: until then it is `released`
        [running] = run("find", "r-0", "--json", *state).lines
        if running["state"] != "released":
            break
    assert (running["state"], running["why"]) == ("running", "by worker-sim-00")
    assert run("find", running["source"], *state).out.startswith(f"{running['source']} running at ")
    assert " answered at headrace.results/" in run("find", "r-5", *state).out
    letter, counts = run("dead-letters", "list", "--json", *state).lines
    assert counts["counts"]["open"] == 1
    assert run("find", letter["source"], *state).out.startswith(
        f"{letter['source']} dead at headrace.dead-letters/"
    )
    assert run("find", "r-99", *state).code == 1

    told = json.loads(run("status", "--json", "--interval", "0.5", *state).out)
    assert {one["name"]: one["state"] for one in told["processes"]} == dict.fromkeys(
        ("broker", "dispatcher-00", "worker-sim-00"), "running"
    )
    assert told["endpoints"]["sim"]["lanes"]["batch"]["running"] == 1
    assert told["dead_letters"] == 1

    waiting = subprocess.Popen(
        command("consume", "headrace.results", "--count", "999", *state), stdout=subprocess.PIPE
    )
    with waiting:
        try:
            assert waiting.stdout is not None
            waiting.stdout.readline()
            waiting.send_signal(signal.SIGINT)
            assert waiting.wait(60) == 130
        finally:
            waiting.kill()

    up.send_signal(signal.SIGTERM)
    assert up.wait(150) == 0
    ended = run("status", *state)
    assert (ended.code, "nothing runs in" in ended.err) == (1, True)
