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
from stream.processes.identity import birth_of, end_group

log = logging.getLogger(__name__)

END_TIMEOUT_S: Final = 15.0
#: What the clock may have been set by between two starts of ours.
CLOCK_TOLERANCE_S: Final = 30.0


class Living(NamedTuple):
    """A process of this machine, as far as it matters here; `started` is epoch seconds."""

    pid: int
    group: int
    started: float
    birth: str | None = None


def leftover_groups(
    recorded: Iterable[Identity], living: Sequence[Living], alive_until_s: float
) -> list[int]:
    """The process groups to end. Pure. `alive_until_s`: the predecessor's last sign of life (epoch seconds).

    A recorded leader must still be the same process (pid and start time). Where it is gone, a member of its group
    counts if it started after the leader and before that last sign: the group's number was our leader's then. Nothing
    of the process itself can tell: an engine core that sets its title wipes its command line and its environment.
    """
    leaders = {process.pid: process for process in living}
    groups = []
    for identity in recorded:
        leader = leaders.get(identity.pid)
        if leader is not None:
            ours = identity.is_same(Identity(leader.pid, leader.started, leader.birth))
        else:
            members = (process for process in living if process.group == identity.pid)
            ours = any(_between(identity.started, member.started, alive_until_s) for member in members)
        if ours:
            groups.append(identity.pid)
    return groups


def _between(begin_s: float, started_s: float, end_s: float) -> bool:
    return begin_s - CLOCK_TOLERANCE_S <= started_s <= end_s + CLOCK_TOLERANCE_S


def end_leftovers(recorded: Sequence[Identity], alive_until_s: float) -> list[int]:
    """End them all and return their groups; StreamError names one that cannot be ended."""
    groups = leftover_groups(recorded, _living({identity.pid for identity in recorded}), alive_until_s)
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
                found.append(Living(process.pid, group, process.create_time(), birth_of(process.pid)))
        except (psutil.Error, ProcessLookupError):
            continue
    return found
