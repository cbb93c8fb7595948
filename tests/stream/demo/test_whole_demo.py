"""The demo as a person runs it, with the simulated engine: a process dies in the middle and the sum is exact."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stream.demo.samples import samples
from stream.processes import started_of

pytestmark = pytest.mark.broker

INPUTS = len(samples("any"))
#: What was sent, class and stage: the first line of each row.
DEAD_LETTERS = {
    ("this is not JSON", "unreadable", "decode"),
    ("bad-endpoint", "unknown_endpoint", "route"),
    ("bad-tokens", "invalid", "validate"),
    ("bad-pattern", "invalid", "validate"),
    ("too-late", "expired", "route"),
    ("bad-reply", "invalid", "validate"),
}
RUN_S = 270


def run_demo(state_dir: Path, *words: str) -> str:
    """What it printed; it ended with 0."""
    command = [sys.executable, "-m", "stream", "demo", "--engine", "simulated", "--state-dir", str(state_dir)]
    wide = {**os.environ, "COLUMNS": "200"}
    ended = subprocess.run(
        [*command, "--rows", "40", *words],
        env=wide,
        capture_output=True,
        text=True,
        timeout=RUN_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def rows(told: str, title: str) -> list[list[str]]:
    """The cells of the table under `title`, without its head."""
    lines = told.partition(f"\n{title}")[2].splitlines()[1:]
    table = lines[: next(place for place, line in enumerate(lines) if line.startswith("└"))]
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in table if line.startswith("│")]


@pytest.mark.parametrize(
    ("words", "killed", "repeats"),
    [
        # Its calls were in the engine: they are made again.
        ((), "worker-smollm2-00", r"[1-9]\d*"),
        # The engine has nothing to do with it.
        (("--kill", "dispatcher"), "dispatcher-00", "0"),
    ],
    ids=["worker by default", "dispatcher"],
)
def test_a_process_dies_in_the_middle_and_each_input_has_one_output(
    tmp_path: Path, words: tuple[str, ...], killed: str, repeats: str
) -> None:
    told = run_demo(tmp_path / "state", *words)
    results = INPUTS - len(DEAD_LETTERS)
    assert f"\n{INPUTS} records in: {results} results + {len(DEAD_LETTERS)} dead letters in " in told
    assert "\nwithout output: 0   with more than one: 0   of nobody: 0\n" in told
    assert re.search(
        rf"\nkilled in the middle: {killed} \(pid \d+\); engine calls repeated: {repeats}\n", told
    ), told
    assert "\neach input has exactly one output\n" in told

    dead = rows(told, "Dead letters")
    assert {tuple(row[:3]) for row in dead if row[0]} == DEAD_LETTERS
    assert all(row[3] for row in dead), "a dead letter without its cause"
    moods = {row[2] for row in rows(told, "Results") if row[2]}
    assert moods <= {"positive", "neutral", "negative"}
    assert moods
    assert {"mood-00", "summary-39"} <= {row[0] for row in rows(told, "Results")}
    assert "simulated answers" in told
    assert "worker-smollm2-00: running" in told
    left = json.loads((tmp_path / "state" / "runtime.json").read_text())
    assert left["processes"] == []


def test_ctrl_c_ends_with_130_and_leaves_nothing_running(tmp_path: Path) -> None:
    state = tmp_path / "state"
    command = [sys.executable, "-m", "stream", "demo", "--engine", "simulated", "--state-dir", str(state)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        for line in demo.stdout:
            if "worker-smollm2-00" in line:
                break
        pids = [one["pid"] for one in json.loads((state / "runtime.json").read_text())["processes"]]
        assert pids
        demo.send_signal(signal.SIGINT)
        demo.stdout.read()
        assert demo.wait(RUN_S) == 130
    assert all(started_of(pid) is None for pid in pids)
