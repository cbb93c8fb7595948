"""runtime.json, the lock, the leftovers: what lies in a state directory."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from stream.errors import UsageError
from stream.processes import Identity
from stream.supervisor.lock import holder_of, state_dir_lock
from stream.supervisor.orphan_processes import Living, leftover_groups
from stream.supervisor.runtime import ProcessEntry, Runtime, RuntimeFile

ENTRY = ProcessEntry("worker", "worker-sim-00", 4711, 1764400000.1, "running")


def test_the_document_is_the_contracts(tmp_path: Path) -> None:
    RuntimeFile(tmp_path).write(
        Runtime("b:1", metrics_urls={"worker-sim-00": "http://m"}, processes=(ENTRY,))
    )
    assert json.loads((tmp_path / "runtime.json").read_text()) == {
        "bootstrap_servers": "b:1",
        "redis_url": None,
        "gateway_url": None,
        "metrics_urls": {"worker-sim-00": "http://m"},
        "processes": [
            {
                "role": "worker",
                "name": "worker-sim-00",
                "pid": 4711,
                "started": 1764400000.1,
                "state": "running",
            }
        ],
        "supervisor": None,
    }


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    runtime = Runtime(None, processes=(ENTRY,))
    RuntimeFile(tmp_path).write(runtime)
    assert RuntimeFile(tmp_path).read() == runtime


def test_an_unchanged_document_is_not_written_again(tmp_path: Path) -> None:
    file = RuntimeFile(tmp_path)
    file.write(Runtime("b:1"))
    before = (tmp_path / "runtime.json").stat().st_ino
    file.write(Runtime("b:1"))
    assert (tmp_path / "runtime.json").stat().st_ino == before


@pytest.mark.parametrize("text", [None, "", "{}", '{"bootstrap_servers": 3}', "not json"])
def test_a_document_that_cannot_be_read_says_nothing(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "runtime.json").write_text(text)
    assert RuntimeFile(tmp_path).read() is None


# ---- leftovers

WORKER = Identity(100, 1000.0)
LAST_SIGN_S = 5000.0


def found(*living: Living) -> list[int]:
    return leftover_groups([WORKER], living, LAST_SIGN_S)


def test_a_recorded_process_that_still_lives_is_a_leftover() -> None:
    assert found(Living(100, 100, 1000.4)) == [100]


def test_a_clock_that_was_set_hides_no_leftover() -> None:
    born = Identity(100, 1000.0, "boot/5")
    assert leftover_groups([born], [Living(100, 100, 9000.0, "boot/5")], LAST_SIGN_S) == [100]
    assert leftover_groups([born], [Living(100, 100, 1000.0, "boot/6")], LAST_SIGN_S) == []


def test_a_pid_that_somebody_else_has_now_is_left_alone() -> None:
    assert found(Living(100, 100, 6000.0)) == []
    assert found(Living(100, 55, 2000.0), Living(101, 100, 2000.0)) == []


def test_the_engine_core_of_a_dead_worker_is_a_leftover() -> None:
    assert found(Living(101, 100, 1010.0)) == [100]
    assert found(Living(101, 100, LAST_SIGN_S + 1)) == [100]


def test_a_group_that_got_the_number_after_our_time_is_left_alone() -> None:
    assert found(Living(101, 100, LAST_SIGN_S + 60)) == []
    assert found(Living(101, 100, 900.0)) == []


def test_nothing_recorded_means_nothing_to_end() -> None:
    assert leftover_groups([], [Living(100, 100, 1000.0)], LAST_SIGN_S) == []


# ---- lock


def test_a_second_up_on_a_living_directory_is_refused_with_the_pid(tmp_path: Path) -> None:
    with (
        state_dir_lock(tmp_path / "state"),
        pytest.raises(UsageError, match=rf"in use by another .*\(pid {os.getpid()}\)"),
        state_dir_lock(tmp_path / "state"),
    ):
        pass


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_a_directory_that_cannot_be_used_is_refused_in_words(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"cannot be used .*choose another --state-dir"):
        state_dir_lock(tmp_path / name).__enter__()


def test_the_holder_of_a_lock_is_known(tmp_path: Path) -> None:
    assert holder_of(tmp_path / "nowhere") is None
    with state_dir_lock(tmp_path):
        assert holder_of(tmp_path) == os.getpid()
    assert holder_of(tmp_path) is None


def test_the_lock_is_free_after_its_block(tmp_path: Path) -> None:
    for _ in range(2):
        with state_dir_lock(tmp_path):
            pass


def test_the_next_start_knows_when_its_predecessor_was_last_alive(tmp_path: Path) -> None:
    with state_dir_lock(tmp_path) as first:
        assert first.predecessor_alive_s == 0
        first.touch()
        last_sign_s = (tmp_path / "lock").stat().st_mtime
    with state_dir_lock(tmp_path) as second:
        assert second.predecessor_alive_s == last_sign_s
