"""What a role says about itself: `<state_dir>/processes/<name>.json`, polled by the supervisor."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Literal

import msgspec

from stream.process_context import ProcessContext
from stream.role.atomic_file import replace_text

log = logging.getLogger(__name__)

RoleState = Literal["starting", "running", "draining"]


class Report(msgspec.Struct, frozen=True):
    """A role's own word. It counts only with the pid of the process that runs now."""

    pid: int
    state: RoleState
    metrics_url: str | None = None
    #: Why it is about to end, in a sentence.
    reason: str | None = None
    #: What it does until it runs, in a few words.
    phase: str | None = None
    #: The next start would end in the same way.
    lasting: bool = False


def report(
    place: ProcessContext,
    state: RoleState,
    metrics_url: str | None = None,
    reason: str | None = None,
    *,
    phase: str | None = None,
    lasting: bool = False,
) -> None:
    """Say how this process is: `running` when it takes records, `draining` when it takes no more."""
    told = f": {phase}" if phase else f", metrics at {metrics_url}" if metrics_url else ""
    log.info("%s %s%s", place.process_name, state, told)
    said = Report(os.getpid(), state, metrics_url, reason, phase, lasting)
    replace_text(report_file(place.state_dir, place.process_name), msgspec.json.encode(said).decode())


def read_report(state_dir: Path, process_name: str) -> Report | None:
    """The last word of a process of that name; None: it has not said anything that can be read."""
    try:
        return msgspec.json.decode(report_file(state_dir, process_name).read_bytes(), type=Report)
    except (OSError, msgspec.DecodeError):
        return None


def report_file(state_dir: Path, process_name: str) -> Path:
    return state_dir / "processes" / f"{process_name}.json"
