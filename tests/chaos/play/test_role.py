"""Which processes of a slot get fault points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from stream.fault_points import VARIABLE
from stream.processes.child import Child
from tests.chaos.play.role import Role


class FakeChild:
    """Ends with the code that it is told."""

    def __init__(self, code: int | None) -> None:
        self.code = code

    def exit_code(self) -> int | None:
        return self.code


@pytest.mark.parametrize(("codes", "left"), [([4, None], ""), ([None, 4], "produced:stop:1")])
def test_a_twin_has_none_for_nobody_would_wake_it(
    codes: list[int | None], left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []
    ends = iter(codes)

    def spawn(_command: Sequence[str], _log: Path, environment: Mapping[str, str]) -> FakeChild:
        given.append(environment[VARIABLE])
        return FakeChild(None if not given[1:] else next(ends))

    monkeypatch.setattr(Child, "spawn", spawn)
    role = Role("worker-sim-00", "id", ["stream"], Path("log"))
    role.fault_points.append("produced:stop:1")
    role.start()
    first = role._child
    assert isinstance(first, FakeChild)
    first.code, twin_code = codes
    ends = iter([twin_code])
    assert role.duel(60) == 4
    assert given == ["produced:stop:1", ""]
    assert role._faults == left
