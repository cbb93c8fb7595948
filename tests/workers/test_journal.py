"""The start journal over the lives of its processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from schemas.source import Source
from workers.journal import Journal, journal_path, read_totals

PROGRAM = """
import os, signal, sys
from pathlib import Path
from schemas.source import Source
from workers.journal import Journal
Journal(Path(sys.argv[1])).started([Source("a/b", 0, n) for n in range(7)])
os.kill(os.getpid(), signal.SIGKILL)
"""


def sources(*offsets: int) -> list[Source]:
    return [Source("requests", 0, offset) for offset in offsets]


def test_what_was_written_before_sigkill_is_there(tmp_path: Path) -> None:
    path = tmp_path / "one.starts"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    killed = subprocess.run([sys.executable, "-c", PROGRAM, str(path)], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert read_totals(path) == (7, 0)
    journal = Journal(path)
    assert journal.started([Source("a/b", 0, 6), Source("a/b", 0, 7)]) == 1
    assert read_totals(path) == (9, 1)
    journal.close()


def test_the_same_record_twice_in_one_process_is_a_repeat_too(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "one.starts")
    journal.started(sources(1, 2))
    assert journal.started(sources(2, 3)) == 1
    assert journal.repeats == 1
    journal.close()


def test_the_file_is_bounded_and_the_totals_are_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "one.starts"
    journal = Journal(path, entries_max=10)
    for offset in range(1_000):
        journal.started(sources(offset))
    journal.close()
    assert read_totals(path) == (1_000, 0)
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 1_000
    assert Journal(path).started(sources(999)) == 1


def test_a_long_running_call_is_carried_over_and_known_after_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "one.starts"
    journal = Journal(path, entries_max=10)
    journal.started(sources(0))
    for offset in range(1, 100):
        journal.started(sources(offset), running=sources(0))
    journal.close()
    later = Journal(path, entries_max=10)
    assert later.started(sources(0, 50)) == 1
    assert read_totals(path) == (102, 1)
    later.close()


def test_a_line_cut_by_a_crash_of_the_machine_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "one.starts"
    path.write_text("requests/0/1\nrequests/0/2\nrequ", encoding="utf-8")
    assert read_totals(path) == (2, 0)


def test_no_journal_is_a_journal_of_zeros_and_each_process_name_has_its_own(tmp_path: Path) -> None:
    assert read_totals(tmp_path / "none") == (0, 0)
    assert journal_path(tmp_path, "worker-sim-00") != journal_path(tmp_path, "worker-sim-01")


def test_a_journal_that_cannot_be_written_goes_on_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    journal = Journal(tmp_path / "one.starts", entries_max=2)

    def full(*_arguments: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        assert [
            journal.started(sources(1, 2)),
            journal.started(sources(1, 3, 4)),
            journal.started(sources(4)),
        ] == [0, 1, 1]
    journal.close()
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_full_disk_costs_no_descriptors_and_a_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "one.starts", entries_max=10)
    journal.started(sources(*range(10)))
    before = _open_below(tmp_path)

    def full(*_arguments: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        for offset in range(10, 200):
            journal.started(sources(offset))
    assert _open_below(tmp_path) == before == 1
    assert len(journal._newer) + len(journal._older) <= 20
    journal.close()


def _open_below(folder: Path) -> int:
    """Descriptors of this process there; sockets and files of other tests come and go."""
    return sum(Path(file.path).is_relative_to(folder) for file in psutil.Process().open_files())
