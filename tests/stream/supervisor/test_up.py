"""`headrace up` with roles that only live and die, without a broker."""

from __future__ import annotations

import os
import signal
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stream.supervisor.up import DRAIN_GRACE_S
from tests.stream.supervisor.installation import Installation, eventually, gone

Start = Callable[..., Installation]

#: For an `up` and its roles, which each take as long to import what they need.
PATIENCE_S = 120


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Installation] = []

    def begin(*roles: str) -> Installation:
        started.append(Installation(tmp_path / "state", "outside", *roles))
        return started[-1]

    yield begin
    for installation in started:
        installation.end()


def test_one_line_says_ready_when_every_role_reports_that_it_runs(start: Start, tmp_path: Path) -> None:
    up = start("dispatcher-00", "worker-sim-00")
    assert up.ready() == f"ready bootstrap=127.0.0.1:1 state={tmp_path / 'state'}"
    assert {entry["name"]: entry["state"] for entry in up.runtime()["processes"]} == {
        "dispatcher-00": "running",
        "worker-sim-00": "running",
    }
    assert up.runtime()["metrics_urls"]["worker-sim-00"] == "http://127.0.0.1:1/worker-sim-00"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0), (signal.SIGHUP, 0)])
def test_a_signal_stops_all_cleanly(start: Start, number: signal.Signals, code: int) -> None:
    up = start("dispatcher-00", "worker-sim-00:engine")
    up.ready()
    pids = [up.pid("dispatcher-00"), up.pid("worker-sim-00"), int((up.state_dir / "engine.pid").read_text())]
    assert up.stop(number) == code
    assert all(gone(pid) for pid in pids)
    assert up.runtime()["processes"] == []
    assert up.runtime()["metrics_urls"] == {}


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 1)])
def test_a_second_signal_ends_even_what_does_not_want_to(
    start: Start, number: signal.Signals, code: int
) -> None:
    up = start("worker-sim-00:stubborn")
    up.ready()
    pid = up.pid("worker-sim-00")
    up.process.send_signal(number)
    eventually(lambda: up.entry("worker-sim-00").get("state") == "draining")
    # Before the grace of the first one is over.
    assert up.stop(number, timeout_s=0.75 * DRAIN_GRACE_S) == code
    assert gone(pid)


def test_a_killed_role_is_started_again_at_once_and_counted(start: Start) -> None:
    up = start("dispatcher-00", "worker-sim-00")
    up.ready()
    dispatcher = up.pid("dispatcher-00")
    up.await_state("worker-sim-00", "running", other_than=up.kill("worker-sim-00"))
    assert up.pid("dispatcher-00") == dispatcher
    with urllib.request.urlopen(up.runtime()["metrics_urls"]["supervisor"], timeout=30) as page:
        assert 'headrace_restarts_total{role="worker"} 1.0' in page.read().decode()


def test_the_engine_core_of_a_killed_worker_ends_before_the_next_worker_starts(start: Start) -> None:
    up = start("worker-sim-00:engine")
    up.ready()
    core = int((up.state_dir / "engine.pid").read_text())
    up.await_state("worker-sim-00", "running", other_than=up.kill("worker-sim-00"))
    assert gone(core)
    assert int((up.state_dir / "engine.pid").read_text()) != core


def test_a_fenced_role_before_ready_is_told_with_its_reason_and_everything_ends(start: Start) -> None:
    up = start("dispatcher-00", "worker-sim-00:fenced")
    assert up.process.wait(PATIENCE_S) == 1
    assert "worker-sim-00 does not start: exit code 4, fenced" in up.errors.read_text()
    assert "a twin has our transactional id" in up.errors.read_text()
    assert up.runtime()["processes"] == []


def test_a_role_that_cannot_start_is_given_up_with_the_last_line_of_its_log(start: Start) -> None:
    up = start("worker-sim-00:broken")
    assert up.process.wait(PATIENCE_S) == 1
    assert "worker-sim-00 does not start: exit code 1: no such model" in up.errors.read_text()
    assert (up.state_dir / "logs" / "worker-sim-00.log").read_text().count("no such model") == 3


def test_a_start_that_no_other_try_can_mend_is_made_once_and_told_once(start: Start) -> None:
    up = start("worker-sim-00:refused")
    assert up.process.wait(PATIENCE_S) == 1
    told = up.errors.read_text()
    assert "worker-sim-00 does not start: exit code 1: the model folder /none does not exist" in told
    assert (up.state_dir / "logs" / "worker-sim-00.log").read_text().count("started") == 1


def test_what_a_role_does_until_it_runs_is_logged_and_in_runtime_json_and_at_readyz(start: Start) -> None:
    up = start("dispatcher-00", "worker-sim-00:slow")
    eventually(lambda: up.entry("worker-sim-00").get("phase") == "loading weights")
    assert "worker-sim-00: loading weights" in up.errors.read_text()
    assert up.runtime()["supervisor"]["ready"] is False
    assert up.runtime()["supervisor"]["pid"] == up.process.pid
    readyz = up.runtime()["metrics_urls"]["supervisor"].replace("/metrics", "/readyz")
    with pytest.raises(urllib.error.HTTPError) as caught, urllib.request.urlopen(readyz, timeout=30):
        pass
    with caught.value:
        assert caught.value.code == 503
        assert "worker-sim-00 is starting" in caught.value.read().decode()


def test_when_all_runs_runtime_json_says_ready_and_readyz_answers_200(start: Start) -> None:
    up = start("dispatcher-00")
    up.ready()
    assert up.runtime()["supervisor"]["ready"] is True
    readyz = up.runtime()["metrics_urls"]["supervisor"].replace("/metrics", "/readyz")
    with urllib.request.urlopen(readyz, timeout=30) as page:
        assert page.status == 200


def test_a_state_directory_that_cannot_be_written_ends_nothing(start: Start) -> None:
    up = start("dispatcher-00", "worker-sim-00")
    up.ready()
    dispatcher, worker = up.pid("dispatcher-00"), up.pid("worker-sim-00")
    in_the_way = up.state_dir / f".runtime.json.{up.process.pid}"
    in_the_way.mkdir()
    up.kill("worker-sim-00")
    eventually(lambda: "the state directory cannot be written" in up.errors.read_text())
    in_the_way.rmdir()
    up.await_state("worker-sim-00", "running", other_than=worker)
    assert up.pid("dispatcher-00") == dispatcher
    assert up.stop() == 0


def test_a_parent_that_ignores_ended_children_changes_nothing(start: Start) -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        up = start("worker-sim-00")
    finally:
        signal.signal(signal.SIGCHLD, before)
    up.ready()
    up.await_state("worker-sim-00", "running", other_than=up.kill("worker-sim-00"))
    assert up.stop() == 0


def test_a_second_up_on_a_living_directory_is_refused(start: Start) -> None:
    first = start("dispatcher-00")
    first.ready()
    second = start("dispatcher-00")
    assert second.process.wait(PATIENCE_S) == 2
    assert f"in use by another `headrace up` (pid {first.process.pid})" in first.errors.read_text()
    assert first.entry("dispatcher-00")["state"] == "running"


def test_a_start_ends_what_a_killed_supervisor_left_orphaned_engine_cores_included(start: Start) -> None:
    first = start("worker-sim-00:engine")
    first.ready()
    worker, core = first.pid("worker-sim-00"), int((first.state_dir / "engine.pid").read_text())
    os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait(60)
    eventually(lambda: gone(worker))
    assert not gone(core)
    second = start("worker-sim-00")
    second.ready()
    assert gone(core)
    assert second.stop() == 0


def test_a_role_that_is_fenced_later_has_failed_and_up_ends_with_1_when_nothing_else_is_left(
    start: Start,
) -> None:
    up = start("dispatcher-00", "worker-sim-00")
    up.ready()
    os.kill(up.pid("worker-sim-00"), signal.SIGUSR1)
    up.await_state("worker-sim-00", "failed")
    assert up.entry("worker-sim-00")["reason"].startswith("exit code 4, fenced")
    assert up.entry("dispatcher-00")["state"] == "running"
    os.kill(up.pid("dispatcher-00"), signal.SIGUSR1)
    assert up.process.wait(PATIENCE_S) == 1


def test_a_kill_is_not_explained_by_whatever_the_log_said_last(start: Start) -> None:
    up = start("worker-sim-00:talkative")
    up.ready()
    up.await_state("worker-sim-00", "running", other_than=up.kill("worker-sim-00"))
    assert "worker-sim-00: ended by SIGKILL; starting it again" in up.errors.read_text()
