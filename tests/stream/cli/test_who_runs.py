"""Who runs and who does not, in words."""

from __future__ import annotations

from stream.cli.overview.who_runs import who_runs


def test_who_runs_and_who_does_not_with_why() -> None:
    fine = {"name": "broker", "state": "running", "alive": True}
    assert who_runs([fine, fine]) == ["all 2 processes run"]
    told = who_runs(
        [
            fine,
            {"name": "a", "state": "failed", "alive": False, "reason": "no such model"},
            {"name": "b", "state": "starting", "alive": True, "phase": "loading weights"},
            {"name": "c", "state": "running", "alive": False},
        ]
    )
    assert told[:3] == [
        "1 of 4 processes run",
        "a is failed: no such model",
        "b is starting: loading weights",
    ]
    assert told[3].startswith("c is gone")
