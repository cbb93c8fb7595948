"""What a supervisor that was killed left running, and its end.

Children end with their parent (PDEATHSIG), their children do not: a vLLM worker that is killed leaves its engine
core, with its memory and its ports, in the process group that the worker led.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import psutil

from stream.errors import StreamError
from stream.processes import Identity
from stream.processes.identity import STARTED_TOLERANCE_S, end_group

log = logging.getLogger(__name__)

#: Set for every child, inherited by what it starts: the state directory that it belongs to.
MARK: Final = "HEADRACE_STATE_DIR"
END_TIMEOUT_S: Final = 15.0


class Living(NamedTuple):
    """A process of this machine, as far as it matters here."""

    pid: int
    group: int
    started: float
    #: Its MARK; None: it has none, or it may not be read.
    state_dir: str | None


def leftover_groups(recorded: Iterable[Identity], living: Sequence[Living], state_dir: str) -> list[int]:
    """The process groups to end. Pure.

    A recorded leader must still be the same process (pid and start time). Where it is gone, members of its group
    count if they carry our mark; the kernel gives a group's number to nobody else while it has members.
    """
    leaders = {process.pid: process for process in living}
    groups = []
    for identity in recorded:
        leader = leaders.get(identity.pid)
        if leader is not None:
            if abs(leader.started - identity.started) <= STARTED_TOLERANCE_S:
                groups.append(identity.pid)
        elif any(process.group == identity.pid and process.state_dir == state_dir for process in living):
            groups.append(identity.pid)
    return groups


def end_leftovers(recorded: Sequence[Identity], state_dir: str) -> list[int]:
    """End them all and return their groups; StreamError names one that cannot be ended."""
    groups = leftover_groups(recorded, _living({identity.pid for identity in recorded}), state_dir)
    for group in groups:
        log.warning("ending process group %d, left by a supervisor that was killed", group)
        if not end_group(group, END_TIMEOUT_S):
            raise StreamError(
                f"process group {group}, left by an earlier start, cannot be ended: end it by hand"
            )
    return groups


def _living(groups: set[int]) -> list[Living]:
    """The living processes that are, or are in the group of, one of `groups`."""
    found = []
    for process in psutil.process_iter():
        try:
            group = os.getpgid(process.pid)
            if (process.pid in groups or group in groups) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(Living(process.pid, group, process.create_time(), _mark(process)))
        except (psutil.Error, ProcessLookupError):
            continue
    return found


def _mark(process: psutil.Process) -> str | None:
    try:
        mark = process.environ().get(MARK)
        return str(mark) if mark is not None else None
    except psutil.AccessDenied:
        return None
