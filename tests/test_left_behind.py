"""A process that a test leaves behind is found, orphans included."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from tests.left_behind import VARIABLE, left_behind

#: Leaves a child of its own behind, and tells its pid.
ORPHAN = """
import subprocess, sys
quiet = subprocess.DEVNULL
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], stdout=quiet, stderr=quiet)
print(child.pid, flush=True)
"""


def test_an_orphan_is_found_by_the_mark_that_it_carries() -> None:
    marked = {**os.environ, VARIABLE: "of this test"}
    told = subprocess.run(
        [sys.executable, "-c", ORPHAN], env=marked, capture_output=True, text=True, timeout=60, check=True
    )
    pid = int(told.stdout)
    try:
        [found] = left_behind("of this test", patience_s=0)
        assert found.startswith(f"{pid}: ")
    finally:
        os.kill(pid, signal.SIGKILL)
    assert left_behind("of this test") == []
