"""What keeps a broker from its directory, told in words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stream.broker.directory import check_unlocked, last_error
from stream.broker.embedded import run_to_end
from stream.errors import BrokerError

#: Holds the lock as the JVM does, says so, and waits for the end of its stdin.
HOLDER = """
import fcntl, sys
lock = open(sys.argv[1], "r+b")
fcntl.lockf(lock, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_a_directory_that_a_living_broker_holds_is_told_with_its_pid(tmp_path: Path) -> None:
    lock, pid_file = tmp_path / ".lock", tmp_path / "broker.pid"
    lock.touch()
    pid_file.write_text("4711\n")
    command = [sys.executable, "-c", HOLDER, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(BrokerError, match=r"another broker holds .*\(pid 4711\)"):
            check_unlocked(tmp_path, pid_file)
        holder.communicate()
    check_unlocked(tmp_path, pid_file)


def test_a_lock_that_cannot_be_opened_is_nobody_elses_broker(tmp_path: Path) -> None:
    (tmp_path / ".lock").mkdir()  # for root too, for whom rights mean nothing
    with pytest.raises(BrokerError, match=r"cannot be used \(Is a directory\)") as caught:
        check_unlocked(tmp_path, tmp_path / "broker.pid")
    assert "another broker" not in str(caught.value)


def test_a_format_that_takes_too_long_is_a_brokers_error() -> None:
    with pytest.raises(BrokerError, match=r"formatting x was not done within 0\.2 s"):
        run_to_end([sys.executable, "-c", "import time; time.sleep(60)"], 0.2, "formatting x")


def test_a_log_that_was_rotated_away_has_no_last_error(tmp_path: Path) -> None:
    assert last_error(tmp_path / "broker.log", 0) is None
    assert last_error(tmp_path, 0) is None
