"""What a process leaves for the one after it: who did not die of what it ran."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from schemas.source import Source
from workers.evidence import ACQUITTALS_MAX, Evidence, read_evidence

PLACE = "headrace.work.sim.batch/0/7"
SOURCE = Source("requests", 0, 12)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "worker-sim-00.alone"


def test_a_record_that_was_named_and_never_started_is_acquitted_once(path: Path) -> None:
    Evidence(path).named(PLACE, 3, SOURCE)
    later = Evidence(path)
    assert later.acquits(PLACE, 3)
    assert not later.acquits(PLACE, 3)


def test_a_record_that_has_ended_is_acquitted(path: Path) -> None:
    before = Evidence(path)
    before.named(PLACE, 3, SOURCE)
    before.started(SOURCE)
    before.ended(SOURCE)
    assert Evidence(path).acquits(PLACE, 3)


def test_a_record_that_ran_is_not_acquitted(path: Path) -> None:
    before = Evidence(path)
    before.named(PLACE, 3, SOURCE)
    before.started(SOURCE)
    assert not Evidence(path).acquits(PLACE, 3)


@pytest.mark.parametrize(("place", "deaths"), [(PLACE, 4), (PLACE, 2), ("headrace.work.sim.batch/0/8", 3)])
def test_a_map_that_tells_of_another_death_is_not_ours_to_judge(path: Path, place: str, deaths: int) -> None:
    Evidence(path).named(PLACE, 3, SOURCE)
    assert not Evidence(path).acquits(place, deaths)


def test_what_was_released_or_let_be_is_evidence_for_nobody(path: Path) -> None:
    for end in (Evidence.released, Evidence.unnamed):
        before = Evidence(path)
        before.named(PLACE, 3, SOURCE)
        end(before)
        assert not Evidence(path).acquits(PLACE, 3)


def test_a_process_that_lives_on_after_its_partitions_went_acquits_what_ran_alone(path: Path) -> None:
    before = Evidence(path)
    before.named(PLACE, 3, SOURCE)
    before.started(SOURCE)
    before.outlived()
    assert Evidence(path).acquits(PLACE, 3)


def test_a_lost_or_cut_file_acquits_nobody(path: Path) -> None:
    Evidence(path).named(PLACE, 3, SOURCE)
    path.write_text(path.read_text() + "+requests/0")
    assert not Evidence(path).acquits(PLACE, 3)
    path.unlink()
    assert not Evidence(path).acquits(PLACE, 3)


def test_whose_process_dies_each_time_at_its_end_is_acquitted_a_few_times_only(path: Path) -> None:
    acquitted = 0
    for _life in range(2 * ACQUITTALS_MAX):
        process = Evidence(path)
        acquitted += process.acquits(PLACE, 3)
        process.named(PLACE, 3, SOURCE)
        process.started(SOURCE)
        process.ended(SOURCE)
        if acquitted == ACQUITTALS_MAX and not Evidence(path).acquits(PLACE, 3):
            break
    assert acquitted == ACQUITTALS_MAX


def test_a_death_is_our_own_while_the_map_tells_as_many(path: Path) -> None:
    Evidence(path).marked({"work/0": 2, "work/1": 1})
    later = Evidence(path)
    assert later.own_death("work/0", 2)
    assert not later.own_death("work/0", 3)
    assert not later.own_death("work/2", 1)


def test_an_engine_that_does_not_survive_a_probe_acquits_what_ran(path: Path) -> None:
    before = Evidence(path)
    before.named(PLACE, 3, SOURCE)
    before.started(SOURCE)
    Evidence(path).probing()
    healthy = Evidence(path)
    healthy.probing()
    healthy.probed()
    assert Evidence(path).acquits(PLACE, 3)


def test_an_engine_that_survives_its_probe_acquits_nobody(path: Path) -> None:
    before = Evidence(path)
    before.named(PLACE, 3, SOURCE)
    before.started(SOURCE)
    healthy = Evidence(path)
    healthy.probing()
    healthy.probed()
    assert not Evidence(path).acquits(PLACE, 3)


def test_a_start_that_cannot_be_written_down_leaves_no_evidence(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    before = Evidence(path)
    before.named(PLACE, 3, SOURCE)

    def full(*_arguments: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        before.started(SOURCE)
    before.named(PLACE, 3, SOURCE)
    assert path.read_text() == ""
    assert not Evidence(path).acquits(PLACE, 3)
    assert "may convict" in caplog.text


def test_what_is_written_anew_while_it_runs_still_says_that_it_runs(path: Path) -> None:
    before = Evidence(path)
    before.named(PLACE, 3, SOURCE)
    before.started(SOURCE)
    before.marked({"work/0": 3})
    assert not Evidence(path).acquits(PLACE, 3)
    before.ended(SOURCE)
    before.marked({"work/0": 3, "work/1": 1})
    assert Evidence(path).acquits(PLACE, 3)


def test_a_process_that_dies_before_its_first_commit_leaves_what_it_found(path: Path) -> None:
    Evidence(path).named(PLACE, 3, SOURCE)
    short = Evidence(path)
    assert short.acquits(PLACE, 3)
    short.marked({"work/0": 4})
    assert Evidence(path).acquits(PLACE, 3)


def test_lines_of_another_record_say_nothing_of_the_named_one() -> None:
    told = read_evidence(f"?{PLACE} 3 0 {SOURCE}\n+{SOURCE}\n!requests/0/13\n")
    assert told.trial is not None
    assert told.trial.running
