"""What the judge takes for a crash."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.chaos.play.crashes import crashes


def test_a_traceback_is_a_crash_and_the_line_of_a_failure_is_none(tmp_path: Path) -> None:
    (tmp_path / "dispatcher-00.log").write_text("WARNING stream: lost the group\nthe broker is gone\n")
    with (tmp_path / "worker-sim-00.log").open("w") as log:
        log.write("WARNING before\n")
        log.flush()
        for number in (1, 2):
            subprocess.run([sys.executable, "-c", f"assert False, {number}"], stderr=log, check=False)
    assert crashes(tmp_path) == [f"worker-sim-00: AssertionError: {number}" for number in (1, 2)]


def test_no_logs_are_no_crashes(tmp_path: Path) -> None:
    assert crashes(tmp_path / "missing") == []
