"""Nobody but their owner reads the files of an installation: a configuration may hold a password."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stream.demo.command import prepare
from stream.process_context import ProcessContext
from stream.processes import Child
from stream.role.report import report
from stream.supervisor.config_copy import copy_config
from stream.supervisor.lock import state_dir_lock
from stream.supervisor.runtime import Runtime, RuntimeFile
from workers.journal import Journal, journal_path


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def modes_below(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): mode(path) for path in sorted(folder.rglob("*"))}


def write_all(state_dir: Path, config: Path) -> None:
    with state_dir_lock(state_dir):
        copy_config(config, state_dir)()
        place = ProcessContext("broker:9092", state_dir, "worker-sim-00")
        report(place, "running")
        RuntimeFile(state_dir).write(Runtime("broker:9092"))
        Journal(journal_path(state_dir, "worker-sim-00")).close()
        Child.spawn([sys.executable, "-c", ""], state_dir / "logs" / "worker.log", os.environ).kill()


def test_the_files_of_an_installation_are_their_owners_alone(tmp_path: Path) -> None:
    config = tmp_path / "headrace.toml"
    config.write_text("")
    state_dir = tmp_path / "new" / "state"
    write_all(state_dir, config)
    assert mode(state_dir) == 0o700
    assert modes_below(state_dir) == {
        "config.toml": 0o600,
        "journal": 0o700,
        "journal/worker-sim-00.starts": 0o600,
        "lock": 0o600,
        "logs": 0o700,
        "logs/worker.log": 0o600,
        "processes": 0o700,
        "processes/worker-sim-00.json": 0o600,
        "runtime.json": 0o600,
    }


def test_what_an_earlier_version_left_open_is_closed(tmp_path: Path) -> None:
    config = tmp_path / "headrace.toml"
    config.write_text("")
    state_dir = tmp_path / "state"
    for path in (
        state_dir / "lock",
        state_dir / "journal" / "worker-sim-00.starts",
        state_dir / "config.toml",
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
        path.chmod(0o644)
    write_all(state_dir, config)
    assert mode(state_dir) == 0o700
    assert {each for name, each in modes_below(state_dir).items() if "." in name} == {0o600}


def test_a_folder_that_is_not_ours_alone_keeps_its_mode(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    (shared / "something").write_text("")
    with state_dir_lock(shared):
        assert mode(shared) == 0o755
        assert mode(shared / "lock") == 0o600


def test_a_demos_folder_is_private(tmp_path: Path) -> None:
    config = prepare(tmp_path / "demo", "simulated")
    assert mode(config.parent) == 0o700
    assert mode(config) == 0o600
