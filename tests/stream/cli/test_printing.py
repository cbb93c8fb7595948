"""What is printed is not ours: logs, models, records."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from stream.cli.tables import print_table, table


def test_brackets_in_a_table_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    rows = table("[/title]", "[/column]")
    rows.add_row("[rank0] log dirs [/data/x] failed")
    print_table(rows)
    told = capsys.readouterr().out
    assert "[rank0] log dirs [/data/x] failed" in told
    assert "[/title]" in told


def test_what_the_terminal_cannot_show_is_an_escape_and_no_end() -> None:
    script = (
        "from stream.cli.ending import run_command; run_command(['--version']); print('caf\u00e9 \u4e2d')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.splitlines()[-1] == b"caf\xe9 \\u4e2d"
