"""A role's process, seen from its supervisor."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import msgspec
import psutil
import pytest

from stream.processes import Child
from stream.role.atomic_file import replace_text
from stream.role.report import Report, report_file
from stream.supervisor.process import RoleProcess, Seen, last_line


def ended(process: RoleProcess) -> Seen:
    deadline = time.monotonic() + 60
    while (seen := process.look()).exit_code is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return seen


def test_a_role_whose_log_was_rotated_away_has_ended_without_a_reason(tmp_path: Path) -> None:
    wait_and_fail = "import sys; sys.stdin.read(); print('why'); sys.exit(3)"
    process = RoleProcess("worker", "w", [sys.executable, "-c", wait_and_fail], tmp_path, os.environ)
    process.launch()
    (tmp_path / "logs" / "w.log").unlink()
    assert ended(process) == Seen(3)
    process.kill()


def test_a_role_that_ends_during_the_look_still_gives_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = RoleProcess("worker", "w", [sys.executable, "-c", "input()"], tmp_path, os.environ)
    identity = process.launch()

    def ends_now(child: Child) -> int:
        said = Report(child.pid, "draining", reason="the slot is taken")
        replace_text(report_file(tmp_path, "w"), msgspec.json.encode(said).decode())
        return 4

    with monkeypatch.context() as patched:
        patched.setattr(Child, "exit_code", ends_now)
        assert process.look() == Seen(4, reason="the slot is taken")
    process.kill()
    assert not psutil.pid_exists(identity.pid)


def test_the_last_line_is_none_where_the_log_cannot_be_read(tmp_path: Path) -> None:
    assert last_line(tmp_path / "gone.log") is None
    assert last_line(tmp_path) is None


def test_the_last_line_is_the_last_that_says_something(tmp_path: Path) -> None:
    log = tmp_path / "w.log"
    log.write_text("first\nlast\n\n  \n")
    assert last_line(log) == "last"
