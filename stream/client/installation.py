"""An installation as others find it: by its configuration, else by its state directory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from stream.client.deadline import Deadline
from stream.client.settings import checked_settings
from stream.config.settings import Settings
from stream.errors import LogTimeout, UsageError
from stream.log.base import Log
from stream.log.kafka.log import kafka_log
from stream.process_context import ProcessContext
from stream.processes.identity import Identity

DEFAULT_STATE_DIR: Final = Path(".headrace")
RUNTIME_FILE: Final = "runtime.json"
#: A broker that does not answer a command within this time is told to be away.
ANSWER_S: Final = 10.0
CONFIG_COPY: Final = "config.toml"


@dataclass(frozen=True, slots=True)
class Installation:
    """Settings and state of one installation, whether it runs or not."""

    settings: Settings
    #: The file of `-c`; None: the copy in the state directory, or the built-in configuration.
    config: Path | None
    state_dir: Path
    #: runtime.json as it stands; empty where nothing was ever started.
    runtime: Mapping[str, Any]

    @property
    def bootstrap_servers(self) -> str:
        """Where Kafka answers; UsageError when no broker is configured and none is running."""
        if self.settings.kafka is not None:
            return self.settings.kafka.bootstrap_servers
        servers = self.runtime.get("bootstrap_servers")
        if not servers:
            raise UsageError(
                f"nothing runs in {self.state_dir}: start it with `headrace up`, or name an installation "
                "with --state-dir DIR or -c FILE"
            )
        return str(servers)

    @property
    def has_broker(self) -> bool:
        """One is configured, or the embedded one runs."""
        return self.settings.kafka is not None or bool(self.runtime.get("bootstrap_servers"))

    def log(self, command: str, deadline: Deadline | None = None) -> Log:
        """The clients of a one-shot command.

        LogTimeout with the address where no broker answers, WaitedTooLong where `deadline` comes first.
        """
        log = kafka_log(self.place(command))
        with (deadline or Deadline(None)).asking(ANSWER_S) as ask_s:
            try:
                log.admin().topics(ask_s)
            except LogTimeout as silent:
                raise LogTimeout(self.no_answer(silent)) from silent
        return log

    def no_answer(self, error: LogTimeout) -> str:
        """What to say, and what to do, when the broker is silent."""
        words = f"no answer from the broker at {self.bootstrap_servers}: {error}"
        if self.settings.kafka is not None:
            return words
        return (
            f"{words}; it belongs to a `headrace up` in {self.state_dir}: if that was killed, start it again"
        )

    @contextmanager
    def named_broker(self) -> Iterator[None]:
        """For a role: a broker that does not answer is told with its address."""
        try:
            yield
        except LogTimeout as silent:
            raise LogTimeout(self.no_answer(silent)) from silent

    def refuse_twin(self, process_name: str) -> None:
        """UsageError where `headrace up` runs a process of this name here: a second one would fence the first for good."""
        for entry in self.runtime.get("processes", ()):
            other = Identity.of_entry(entry)
            if entry["name"] == process_name and other.pid != os.getpid() and other.lives():
                raise UsageError(
                    f"{process_name} is run by `headrace up` in {self.state_dir} (pid {other.pid}): "
                    "take another --slot, or another --state-dir"
                )

    def place(self, process_name: str) -> ProcessContext:
        """Where a role, or a command under this name, works."""
        kafka = self.settings.kafka
        client = dict(kafka.client) if kafka else {}
        return ProcessContext(self.bootstrap_servers, self.state_dir, process_name, client)


def open_installation(config: Path | None = None, state_dir: Path = DEFAULT_STATE_DIR) -> Installation:
    """Read configuration and runtime.json once; ConfigError or UsageError says what is wrong."""
    copy = state_dir / CONFIG_COPY
    settings = checked_settings(config or (copy if copy.exists() else None))
    return Installation(settings, config, state_dir, _runtime(state_dir / RUNTIME_FILE))


def _runtime(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as wrong:
        raise UsageError(f"{path} cannot be read: {wrong}") from wrong
    if not isinstance(found, dict):
        raise UsageError(f"{path} is not a JSON object")
    return found
