"""`headrace logs`: the ends of log files, and what comes after."""

from __future__ import annotations

from pathlib import Path

import pytest

from stream.cli.log_files import TAIL_BYTES_MAX, Tail, chosen
from tests.stream.cli.conftest import Run

NAMES = ("broker", "dispatcher-00", "worker-sim-00", "worker-sim-01", "up")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.log").write_text("".join(f"{name} {number}\n" for number in range(5)))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("worker", ["worker-sim-00", "worker-sim-01"]),
        ("worker-sim-01", ["worker-sim-01"]),
        ("broker", ["broker"]),
        (None, sorted(NAMES)),
        ("work", []),
    ],
)
def test_a_role_or_a_process_is_chosen_by_its_name(state: Path, name: str | None, found: list[str]) -> None:
    assert [file.stem for file in chosen(list((state / "logs").glob("*.log")), name)] == found


def test_one_log_is_printed_as_it_is_and_several_with_their_names(state: Path, run: Run) -> None:
    one = run("logs", "broker", "-n", "2", "--state-dir", str(state))
    assert (one.code, one.out) == (0, "broker 3\nbroker 4\n")
    two = run("logs", "worker", "--lines", "1", "--state-dir", str(state))
    assert two.out == "worker-sim-00 | worker-sim-00 4\nworker-sim-01 | worker-sim-01 4\n"


def test_a_name_without_a_log_is_answered_with_the_nearest(state: Path, run: Run) -> None:
    ended = run("logs", "brokr", "--state-dir", str(state))
    assert (ended.code, ended.err) == (2, "headrace: no logs of 'brokr', did you mean \"broker\"?\n")


def test_where_nothing_was_started_there_are_no_logs(tmp_path: Path, run: Run) -> None:
    ended = run("logs", "--state-dir", str(tmp_path))
    assert ended.code == 2
    assert "nothing was started there" in ended.err


def test_what_is_added_comes_line_by_line_also_after_the_file_was_set_aside(tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    file.write_text("one\ntw")
    tail = Tail(file)
    assert tail.last(10) == ["one"]
    with file.open("a") as log:
        log.write("o\nthr")
    assert list(tail.more()) == ["two"]
    file.rename(tmp_path / "a.log.1")
    assert list(tail.more()) == []
    file.write_text("new\n")
    assert list(tail.more()) == ["new"]


def test_a_long_log_is_read_from_near_its_end(tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    file.write_bytes(b"x" * TAIL_BYTES_MAX + b"\nlast\n")
    assert Tail(file).last(10) == ["last"]
