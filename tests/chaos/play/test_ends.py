"""Which ends of roles fail a run."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from stream.processes import Child
from tests.chaos.play.ends import stop, wrong_ends
from tests.chaos.play.role import Role
from tests.chaos.play.scene import PATIENCE_S

BIRTH = "import signal, sys, time; time.sleep(0.3);"
WAIT = "time.sleep(300)"


def running(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Role:
    """A role whose process runs this code."""
    spawn = Child.spawn

    def spawn_code(_command: Sequence[str], log: Path, environment: Mapping[str, str]) -> Child:
        return spawn([sys.executable, "-c", code], log, environment)

    monkeypatch.setattr(Child, "spawn", spawn_code)
    role = Role("dispatcher-01", "id", [], folder / "log")
    role.start()
    return role


def on_term(handler: str) -> str:
    return f"{BIRTH} signal.signal(signal.SIGTERM, {handler}); {WAIT}"


@pytest.mark.parametrize(
    ("code", "timeout_s", "told"),
    [
        (on_term("lambda *_: sys.exit(0)"), PATIENCE_S, []),
        (on_term("lambda *_: sys.exit(3)"), PATIENCE_S, ["dispatcher-01 answered SIGTERM with exit code 3"]),
        (on_term("lambda *_: sys.exit(1)"), PATIENCE_S, ["dispatcher-01 answered SIGTERM with exit code 1"]),
        (on_term("lambda *_: None"), 1.0, ["dispatcher-01 did not stop within 1 s of SIGTERM"]),
    ],
)
def test_a_sigterm_that_is_not_answered_by_a_clean_end_is_wrong_and_a_newborn_may_hear_it_first(
    code: str, timeout_s: float, told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    role = running(code, tmp_path, monkeypatch)
    try:
        assert stop([role], timeout_s=timeout_s) == told
    finally:
        role.end()
    assert wrong_ends(told) == told


def test_a_role_that_has_lost_its_group_may_answer_sigterm_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "headrace: the group has lost this member, and no other process owns its slot: fenced"
    role = running(on_term(f"lambda *_: sys.exit({words!r})"), tmp_path, monkeypatch)
    try:
        told = stop([role], timeout_s=PATIENCE_S)
    finally:
        role.end()
    assert told == ["dispatcher-01 had lost its group when SIGTERM came, and ended with 1"]
    assert wrong_ends(told) == []


def test_a_role_that_is_started_again_is_told_and_nothing_else_is_let_pass() -> None:
    duel = "worker-sim-00: of two processes for one slot, one ended with None, expected 4"
    fenced, dead = "worker-sim-00 ended with 4", "dispatcher-00 ended with -6"
    assert wrong_ends(["worker-sim-00 ended with 1", duel, fenced, dead]) == [duel, fenced, dead]
