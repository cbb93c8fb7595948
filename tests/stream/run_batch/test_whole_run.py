"""run-batch as a person runs it, on the simulated engine: killed at any moment, and given again."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from stream.log.kafka.log import KafkaLog
from tests.stream.run_batch.stage import request_line

pytestmark = pytest.mark.broker

CONFIG = """
[endpoints.sim]
engine = "simulated"
partitions = 4
slots = 16
simulated = { prefill_tokens_per_s = 0, decode_tokens_per_s = 100 }
"""
LINES = 900
BAD = {7: "not json", 400: request_line("r-400", model="nobody")}
KILLS = 4
PATIENCE_S = 200


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "stream", *(str(word) for word in words)]


class Killable:
    """A run-batch that is killed when its output has so many bytes."""

    def __init__(self, words: list[str], output: Path) -> None:
        self._output = output
        self._process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def send_at(self, size: int, number: signal.Signals) -> int:
        """Its exit code; it may be done before."""
        self.wait_for(size)
        self._process.send_signal(number)
        return self.end()

    def wait_for(self, size: int) -> None:
        until_s = time.monotonic() + PATIENCE_S
        while self._process.poll() is None and self._size() < size:
            if time.monotonic() > until_s:
                self._process.kill()
                pytest.fail(f"{self._size()} of {size} bytes after {PATIENCE_S} s")
            time.sleep(0.02)

    def end(self) -> int:
        """Its exit code, when it has ended by itself or by a signal."""
        with self._process as process:
            _, self.told = process.communicate(timeout=PATIENCE_S)
        return process.returncode

    def _size(self) -> int:
        return self._output.stat().st_size if self._output.exists() else 0


def finish(words: list[str]) -> str:
    """Run it to its end; what it told."""
    ended = subprocess.run(words, check=False, capture_output=True, text=True, timeout=PATIENCE_S)
    assert ended.returncode == 0, ended.stderr
    return ended.stderr


def killed_and_finished(words: list[str], output: Path, sizes: list[int]) -> str:
    """Killed at each of these sizes, where it is not done before; what the last one told."""
    for size in sizes:
        run = Killable(words, output)
        code = run.send_at(size, signal.SIGKILL)
        if code == 0:
            return run.told.decode()
        assert code == -signal.SIGKILL, run.told
    return finish(words)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The state directory of an installation that lives."""
    folder = tmp_path_factory.mktemp("batch")
    (folder / "sim.toml").write_text(CONFIG)
    words = command("up", "-c", folder / "sim.toml", "--state-dir", folder / "state")
    with (folder / "up.log").open("w") as log:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, text=True)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("ready "), (folder / "up.log").read_text()
        yield folder / "state"
        process.terminate()
        process.wait(150)


def requests(path: Path, count: int) -> Path:
    path.write_text("\n".join(BAD.get(row, request_line(f"r-{row}", f"text {row}")) for row in range(count)))
    return path


def reply_topics(state: Path) -> list[str]:
    """Those of batches, as the broker has them."""
    servers = json.loads((state / "runtime.json").read_text())["bootstrap_servers"]
    return [name for name in KafkaLog(servers, {}).admin().topics(30) if ".replies.batch-" in name]


@pytest.mark.parametrize("ordered", [True, False], ids=["ordered", "as they come"])
def test_killed_at_random_moments_each_line_comes_out_once(
    state: Path, tmp_path: Path, ordered: bool
) -> None:
    dice = random.Random(8 + ordered)
    source, output = requests(tmp_path / "in.jsonl", LINES), tmp_path / "out.jsonl"
    more = ["--ordered"] if ordered else []
    words = command("run-batch", "-i", source, "-o", output, "--state-dir", state, *more)
    # A line of output has some 400 bytes.
    moments = [0, *sorted(dice.randrange(400 * LINES * 3 // 4) for _ in range(KILLS - 1))]
    told = killed_and_finished(words, output, moments)
    assert f"done: {LINES} outcomes in {output}, {len(BAD)} of them errors" in told
    found = lines(output)
    names = [None if row == 7 else f"r-{row}" for row in range(LINES)]
    came = [line["custom_id"] for line in found]
    assert (came if ordered else sorted(came, key=str)) == (names if ordered else sorted(names, key=str))
    assert {line["custom_id"]: line["error"]["code"] for line in found if line["error"]} == {
        None: "unreadable",
        "r-400": "unknown_endpoint",
    }
    assert not output.with_name("out.jsonl.batch").exists()
    assert reply_topics(state) == []


def test_ctrl_c_ends_it_with_130_and_the_same_command_goes_on(state: Path, tmp_path: Path) -> None:
    source, output = requests(tmp_path / "in.jsonl", 300), tmp_path / "out.jsonl"
    words = command(
        "run-batch", "-i", source, "-o", output, "--state-dir", state, "--errors", tmp_path / "err"
    )
    first = Killable(words, output)
    assert first.send_at(1, signal.SIGINT) == 130
    assert b"stopped; the same command goes on" in first.told
    (tmp_path / "in.jsonl").write_text("changed")
    changed = subprocess.run(words, check=False, capture_output=True, text=True, timeout=60)
    assert (changed.returncode, "is not what it was" in changed.stderr) == (2, True)
    requests(source, 300)
    assert "going on: " in finish(words)
    assert len(lines(output)) == 299
    assert [line["custom_id"] for line in lines(tmp_path / "err")] == [None]


def test_a_check_sends_nothing_where_a_line_is_wrong(state: Path, tmp_path: Path) -> None:
    source, output = requests(tmp_path / "in.jsonl", 20), tmp_path / "out.jsonl"
    words = command("run-batch", "-i", source, "-o", output, "--state-dir", state, "--check")
    ended = subprocess.run(words, check=False, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert f"{source}:8: unreadable: not JSON" in ended.stderr
    assert "1 of the lines are wrong; nothing was sent" in ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_comes_out_with_its_answers_in_its_order(state: Path, tmp_path: Path, kind: str) -> None:
    source, output = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}"
    with duckdb.connect() as connection:
        table = "SELECT printf('%05d', i) AS id, 'text, ' || i AS text, i % 7 AS shop FROM range(300) t(i)"
        connection.execute(f"COPY ({table}) TO '{source}' (FORMAT {kind})")
    words = ["run-batch", "-i", source, "-o", output, "--prompt", "Classify: {text}", "--choice", "good,bad"]
    whole = command(*words, "--id-column", "id", "--key-column", "shop", "--check", "--state-dir", state)
    killed_and_finished(whole, output.with_name(output.name + ".batch") / "cells.jsonl", [1])
    with duckdb.connect() as connection:
        every = connection.execute(f"SELECT id, text, shop, answer, error FROM '{output}'").fetchall()
    assert [(int(row[0]), row[1], int(row[2])) for row in every] == [
        (number, f"text, {number}", number % 7) for number in range(300)
    ]
    assert {row[3] for row in every} <= {"good", "bad"}
    assert {row[4] for row in every} == {None}


def test_an_installation_of_its_own_dies_with_it_or_alone_and_both_go_on(tmp_path: Path) -> None:
    source, output = requests(tmp_path / "in.jsonl", 300), tmp_path / "out.jsonl"
    # Fifteen seconds of work: what is killed at the first answer has not finished meanwhile.
    slow = CONFIG.replace("slots = 16", "slots = 4").replace("per_s = 100", "per_s = 50")
    (tmp_path / "sim.toml").write_text(slow)
    words = command("run-batch", "-i", source, "-o", output, "-c", tmp_path / "sim.toml", "--ordered")
    first = Killable(words, output)
    first.wait_for(1)
    supervisor = (tmp_path / "out.jsonl.batch" / "installation" / "lock").read_text()
    os.kill(int(supervisor), signal.SIGKILL)
    assert first.end() == 1
    assert b"the installation of this batch ended with status -9; the same command goes on" in first.told
    killed_and_finished(words, output, [output.stat().st_size + 1])
    assert [line["custom_id"] for line in lines(output)] == [
        None if row == 7 else f"r-{row}" for row in range(300)
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl", "sim.toml"]
