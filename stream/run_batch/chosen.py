"""The installation that answers a batch: one that lives, else one of the batch's own."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stream.cli.options import find_installation
from stream.client.heartbeats import last_beats
from stream.client.installation import Installation
from stream.client.settings import checked_settings
from stream.errors import UsageError
from stream.log.base import Log
from stream.processes import Identity
from stream.run_batch.endpoint import config_of
from stream.run_batch.folder import BatchFolder
from stream.run_batch.private import make_folder, replace_bytes
from stream.run_batch.state import State
from stream.run_batch.wanted import Wanted

ASK_S: Final = 10.0
#: Processes whose parent was killed end at once; this is for a machine that is busy.
ENDING_S: Final = 10.0
ENDING_POLL_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class Chosen:
    """Where a batch runs. `own`: it is to be started, with `config`, and ended after the batch."""

    installation: Installation
    own: bool
    config: Path | None = None


def choose(arguments: argparse.Namespace, wanted: Wanted, folder: BatchFolder, state: State | None) -> Chosen:
    """That of the state where there is one. UsageError where options contradict what lives."""
    given: Path | None = getattr(arguments, "config", None)
    if state is not None:
        return _chosen_before(state, given)
    found = find_installation(arguments)
    if lives(found):
        if wanted.engine_options:
            raise UsageError(
                f"--{next(iter(wanted.engine_options)).replace('_', '-')} is for an engine that run-batch starts; "
                f"one lives in {found.state_dir}: its options stand in [endpoints.NAME] of its configuration"
            )
        return Chosen(found, own=False, config=None if given is None else given.absolute())
    config = _config(given, wanted, folder)
    state_dir: Path = getattr(arguments, "state_dir", folder.installation)
    return Chosen(Installation(checked_settings(config), config, state_dir.absolute(), {}), True, config)


def lives(found: Installation) -> bool:
    """Whether somebody works for it: here, or at its broker."""
    entries = found.runtime.get("processes", ())
    here = any(
        entry["role"] in ("dispatcher", "worker") and Identity.of_entry(entry).lives() for entry in entries
    )
    return here or (found.settings.kafka is not None and anybody_beats(found.log("run-batch"), found)())


def anybody_beats(log: Log, found: Installation) -> Callable[[], bool]:
    """A question: does a worker tell of itself? LogTimeout where the broker is away."""
    topic = found.settings.own_topic("workers")

    def ask() -> bool:
        topics = log.admin().topics(ASK_S)
        return topic in topics and bool(last_beats(log, found.settings, topics, ask_s=ASK_S))

    return ask


def _chosen_before(state: State, given: Path | None) -> Chosen:
    """Where the batch began. What a killed command had started is ending now; what still lives then is somebody's."""
    config = given or (None if state.config is None else Path(state.config))
    named = argparse.Namespace(config=config, state_dir=Path(state.state_dir))
    until_s = time.monotonic() + ENDING_S
    while state.own and lives(find_installation(named)) and time.monotonic() < until_s:
        time.sleep(ENDING_POLL_S)
    found = find_installation(named)
    if not state.own or lives(found):
        return Chosen(found, own=False, config=config)
    return Chosen(Installation(checked_settings(config), config, Path(state.state_dir), {}), True, config)


def _config(given: Path | None, wanted: Wanted, folder: BatchFolder) -> Path | None:
    if given is not None:
        if wanted.engine_options:
            raise UsageError("engine options stand in [endpoints.NAME] of the configuration that -c names")
        return given.absolute()
    if wanted.model is None and not wanted.engine_options:
        return None
    if wanted.model is None:
        raise UsageError("engine options need --model MODEL: the model that is loaded with them")
    make_folder(folder.path)
    replace_bytes(folder.config, config_of(_loadable(wanted.model), wanted.engine_options).encode())
    return folder.config.absolute()


def _loadable(model: str) -> str:
    """A folder by its whole path: the configuration lies elsewhere."""
    path = Path(model).expanduser()
    return str(path.absolute()) if "/" in model and path.is_dir() else model
