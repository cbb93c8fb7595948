"""What a role says about itself."""

from __future__ import annotations

import os
from pathlib import Path

from stream.process_context import ProcessContext
from stream.role.report import Report, read_report, report, report_file


def test_a_report_comes_back_as_it_was_said(tmp_path: Path) -> None:
    place = ProcessContext("127.0.0.1:1", tmp_path, "worker-sim-00")
    report(place, "starting")
    report(place, "running", "http://127.0.0.1:2/metrics")
    assert read_report(tmp_path, "worker-sim-00") == Report(
        os.getpid(), "running", "http://127.0.0.1:2/metrics"
    )


def test_a_process_that_said_nothing_has_no_report(tmp_path: Path) -> None:
    assert read_report(tmp_path, "worker-sim-00") is None


def test_a_file_that_is_no_report_counts_as_silence(tmp_path: Path) -> None:
    file = report_file(tmp_path, "worker-sim-00")
    file.parent.mkdir()
    for text in ("", "{}", '{"pid": 1, "state": "asleep"}', "\x00"):
        file.write_text(text)
        assert read_report(tmp_path, "worker-sim-00") is None


def test_a_report_that_cannot_be_opened_counts_as_silence(tmp_path: Path) -> None:
    report_file(tmp_path, "worker-sim-00").mkdir(parents=True)
    assert read_report(tmp_path, "worker-sim-00") is None


def test_nothing_is_left_beside_the_file(tmp_path: Path) -> None:
    report(ProcessContext("127.0.0.1:1", tmp_path, "dispatcher-00"), "running")
    assert [path.name for path in (tmp_path / "processes").iterdir()] == ["dispatcher-00.json"]
