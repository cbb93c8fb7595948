"""`up --detach`, `status`, `logs` and `down` as processes, as a person types them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from stream.processes import Identity
from tests.stream.cli.conftest import Run

SIM = '[endpoints.sim]\nengine = "simulated"\npartitions = 1\n'
WAIT_S = 150


def headrace(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stream", *words], capture_output=True, text=True, timeout=WAIT_S, check=False
    )


@pytest.mark.broker
def test_an_installation_in_the_background_from_its_start_to_its_end(tmp_path: Path, run: Run) -> None:
    state, config = tmp_path / "state", tmp_path / "sim.toml"
    config.write_text(SIM)
    started = headrace("up", "--detach", "-c", str(config), "--state-dir", str(state))
    try:
        assert started.returncode == 0, started.stderr
        assert started.stdout.startswith("ready bootstrap=127.0.0.1:")
        assert "starting Kafka" in started.stderr
        assert "worker-sim-00: running" in started.stderr
        assert "all 3 processes run" in run("status", "--interval", "0.1", "--state-dir", str(state)).out
        assert "ready bootstrap=" in run("logs", "up", "--state-dir", str(state)).out
        again = headrace("up", "--detach", "-c", str(config), "--state-dir", str(state))
        assert again.returncode == 2
        assert "in use by another `headrace up`" in again.stderr
    finally:
        stopped = headrace("down", "--state-dir", str(state))
    assert (stopped.returncode, stopped.stdout) == (0, "stopped\n")
    assert json.loads((state / "runtime.json").read_text())["processes"] == []
    assert headrace("down", "--state-dir", str(state)).stdout == f"nothing runs in {state}\n"


def test_a_start_that_fails_in_the_background_is_told_with_its_reason_and_code(tmp_path: Path) -> None:
    config = tmp_path / "away.toml"
    config.write_text(f'[kafka]\nbootstrap_servers = "127.0.0.1:1"\n{SIM}')
    started = headrace("up", "--detach", "-c", str(config), "--state-dir", str(tmp_path / "state"))
    assert (started.returncode, started.stdout) == (1, "")
    assert "headrace: no answer from the broker at 127.0.0.1:1" in started.stderr
    assert "up.log)" in started.stderr


def test_a_wrong_configuration_starts_nothing(tmp_path: Path) -> None:
    config = tmp_path / "wrong.toml"
    config.write_text("[endpoint.sim]\n")
    started = headrace("up", "--detach", "-c", str(config), "--state-dir", str(tmp_path / "state"))
    assert started.returncode == 2
    assert not (tmp_path / "state").exists()


def test_down_ends_what_a_killed_supervisor_left(tmp_path: Path, run: Run) -> None:
    code = "import time; time.sleep(300)"
    with subprocess.Popen([sys.executable, "-c", code], process_group=0) as left:
        started = psutil.Process(left.pid).create_time()
        entry = {"role": "worker", "name": "w", "pid": left.pid, "started": started, "state": "running"}
        dead = {"pid": left.pid, "started": started - 3600, "ready": True}
        (tmp_path / "runtime.json").write_text(
            json.dumps({"bootstrap_servers": None, "processes": [entry], "supervisor": dead})
        )
        (tmp_path / "lock").touch()
        ended = run("down", "--state-dir", str(tmp_path))
        assert (ended.code, ended.out) == (0, "ended what a killed `headrace up` had left\n")
        assert left.wait(WAIT_S) == -signal.SIGKILL


def test_down_never_signals_a_process_that_only_has_the_pid(tmp_path: Path, run: Run) -> None:
    other = {"pid": os.getpid(), "started": 1.0, "ready": True}
    (tmp_path / "runtime.json").write_text(
        json.dumps({"bootstrap_servers": None, "processes": [], "supervisor": other})
    )
    assert not Identity(os.getpid(), 1.0).lives()
    assert run("down", "--state-dir", str(tmp_path)).out == f"nothing runs in {tmp_path}\n"
