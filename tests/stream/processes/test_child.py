"""Child processes: their groups, their end with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stream.errors import StreamError
from stream.processes import Child, Identity, identity_of, started_of
from stream.processes.identity import end_group, group_members
from stream.supervisor.orphan_processes import end_leftovers
from tests.walks import children_called, is_stopped, zombie

SLEEP = "import time; time.sleep(300)"
#: Starts a child of its own in the same group and tells its pid.
PARENT = f"""
import subprocess, sys, time
print(subprocess.Popen([sys.executable, "-c", {SLEEP!r}]).pid, flush=True)
time.sleep(300)
"""
#: A supervisor in small: spawns a child, tells its pid.
SUPERVISOR = f"""
import os, sys, time
from pathlib import Path
from stream.processes import Child
child = Child.spawn([sys.executable, "-c", {SLEEP!r}], Path(sys.argv[1]), os.environ)
print(child.pid, flush=True)
time.sleep(300)
"""


def eventually(true: Callable[[], bool], timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def spawn(code: str, log: Path) -> Child:
    return Child.spawn([sys.executable, "-c", code], log, os.environ)


def grandchild_of(log: Path) -> int:
    eventually(lambda: log.read_text().endswith("\n"))
    return int(log.read_text())


def test_a_child_leads_a_group_of_its_own(tmp_path: Path) -> None:
    child = spawn(SLEEP, tmp_path / "log")
    assert os.getpgid(child.pid) == child.pid
    child.kill()
    assert child.exit_code() == -signal.SIGKILL


def test_the_exit_code_is_the_commands_own(tmp_path: Path) -> None:
    child = spawn("import sys; sys.exit(4)", tmp_path / "log")
    eventually(lambda: child.exit_code() == 4)


def test_what_a_dead_leader_left_in_its_group_is_killed_when_its_death_is_seen(tmp_path: Path) -> None:
    child = spawn(PARENT, tmp_path / "log")
    orphan = grandchild_of(tmp_path / "log")
    os.kill(child.pid, signal.SIGKILL)
    eventually(lambda: child.exit_code() is not None)
    assert started_of(orphan) is None


def test_kill_ends_the_whole_group(tmp_path: Path) -> None:
    child = spawn(PARENT, tmp_path / "log")
    grandchild = grandchild_of(tmp_path / "log")
    child.kill()
    assert started_of(grandchild) is None


def test_terminate_lets_the_leader_end_by_itself(tmp_path: Path) -> None:
    code = "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(0)); print('on', flush=True); time.sleep(300)"
    child = spawn(code, tmp_path / "log")
    eventually(lambda: (tmp_path / "log").read_text() == "on\n")
    child.terminate()
    eventually(lambda: child.exit_code() == 0)


def test_a_child_ends_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SUPERVISOR, str(tmp_path / "log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout is not None
        child = int(supervisor.stdout.readline())
        assert started_of(child) is not None
        supervisor.kill()
    eventually(lambda: started_of(child) is None)


def test_spawning_from_another_thread_is_refused(tmp_path: Path) -> None:
    raised: list[BaseException] = []

    def attempt() -> None:
        try:
            spawn(SLEEP, tmp_path / "log")
        except RuntimeError as error:
            raised.append(error)

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join(60)
    assert "main thread" in str(raised[0])


def test_an_identity_is_pid_and_start_time() -> None:
    started = started_of(os.getpid())
    assert started is not None
    assert Identity(os.getpid(), started).lives()
    assert not Identity(os.getpid(), started - 60).lives()


def test_a_clock_that_is_set_changes_no_identity() -> None:
    mine = identity_of(os.getpid())
    assert mine.birth is not None
    assert replace(mine, started=mine.started + 3600).lives()
    assert not replace(mine, birth=f"{mine.birth}0").lives()


def test_the_entry_of_an_older_version_has_no_birth_and_goes_by_the_clock() -> None:
    mine = identity_of(os.getpid())
    entry = {"pid": mine.pid, "started": mine.started}
    assert Identity.of_entry(entry).lives()
    assert not Identity.of_entry({**entry, "started": mine.started - 60}).lives()


def test_a_large_log_is_set_aside_when_its_process_starts(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    child = spawn("print('new')", log)
    eventually(lambda: child.exit_code() == 0)
    assert log.read_text() == "new\n"
    assert (tmp_path / "log.1").exists()


def test_ending_a_group_that_is_gone_is_fine(tmp_path: Path) -> None:
    child = spawn("", tmp_path / "log")
    eventually(lambda: child.exit_code() == 0)
    assert end_group(child.pid, timeout_s=0)
    assert group_members(child.pid) == []


def test_a_zombie_does_not_live() -> None:
    with zombie() as pid:
        assert started_of(pid) is None
        assert not is_stopped(pid)


def test_walks_over_processes_pass_over_a_zombie() -> None:
    with zombie() as pid:
        assert group_members(pid) == []
        assert end_group(pid, timeout_s=0)
        assert end_leftovers([Identity(pid, time.time())], time.time()) == []
        assert pid not in [child.pid for child in children_called("python")]


@pytest.mark.parametrize("pid", [2**22 + 1])
def test_a_pid_that_nobody_has_has_no_start_time(pid: int) -> None:
    assert started_of(pid) is None


class Held(subprocess.Popen[bytes]):
    """A process that the kernel does not let go, as far as anybody who waits can see."""

    def wait(self, timeout: float | None = None) -> int:
        if timeout is None:
            return super().wait()
        raise subprocess.TimeoutExpired(self.args, timeout)


def test_a_process_that_outlives_its_kill_is_an_error_and_no_endless_wait() -> None:
    process = Held([sys.executable, "-c", SLEEP], process_group=0)
    with pytest.raises(StreamError, match=rf"process {process.pid} outlives SIGKILL"):
        Child(process, identity_of(process.pid)).kill()
    process.wait()
