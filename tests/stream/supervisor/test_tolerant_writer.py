"""A state directory that cannot be written."""

from __future__ import annotations

import errno
from collections.abc import Sequence

import pytest

from stream.supervisor.supervisor import Unit
from stream.supervisor.tolerant_writer import TELL_S, TolerantWriter


def test_it_is_told_now_and_then_and_tried_each_time(caplog: pytest.LogCaptureFixture) -> None:
    tries: list[Sequence[Unit]] = []

    def full(units: Sequence[Unit]) -> None:
        tries.append(units)
        raise OSError(errno.ENOSPC, "No space left on device")

    clock = iter([0.0, 0.0, 1.0, TELL_S, TELL_S, TELL_S + 1])
    write = TolerantWriter(full, lambda: next(clock))
    for _ in range(4):
        write([])
    assert len(tries) == 4
    assert caplog.text.count("No space left on device") == 2


def test_a_bug_is_no_full_disk() -> None:
    def wrong(_units: Sequence[Unit]) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        TolerantWriter(wrong, lambda: 0.0)([])
