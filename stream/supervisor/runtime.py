"""runtime.json: what runs where, for people, scripts, other commands, and the next start."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from stream.role.atomic_file import replace_text
from stream.supervisor.restart import ProcessState

log = logging.getLogger(__name__)


class ProcessEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One process. `started` is epoch seconds; with `pid` it says which process is meant."""

    role: str
    name: str
    pid: int
    started: float
    state: ProcessState
    #: Why it failed or is being restarted.
    reason: str | None = None
    #: What it does until it runs.
    phase: str | None = None
    #: The boot and the clock tick of its start: a clock that is set changes `started`, not this.
    birth: str | None = None


class SupervisorEntry(msgspec.Struct, frozen=True):
    """`headrace up` itself. `ready`: it has said so, and ends by itself only when nothing is left to run."""

    pid: int
    started: float
    ready: bool = False
    #: What it does itself until then.
    phase: str | None = None
    birth: str | None = None


class Runtime(msgspec.Struct, frozen=True):
    """The whole document. Urls of parts that do not run are null; after a clean stop `processes` is empty."""

    bootstrap_servers: str | None
    redis_url: str | None = None
    gateway_url: str | None = None
    #: By process name.
    metrics_urls: dict[str, str] = {}
    processes: tuple[ProcessEntry, ...] = ()
    #: The process that runs them all; null after a clean stop.
    supervisor: SupervisorEntry | None = None


class RuntimeFile:
    """Writes the document whenever it has changed, so that a reader always sees a whole one."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / "runtime.json"
        self._written: Runtime | None = None

    def read(self) -> Runtime | None:
        """What the predecessor left; None where there is nothing that can be read."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Runtime)
        except FileNotFoundError:
            return None
        except msgspec.DecodeError as error:
            log.warning("%s cannot be read, so nothing of a predecessor is known: %s", self._path, error)
            return None

    def write(self, runtime: Runtime) -> None:
        if runtime == self._written:
            return
        text = msgspec.json.format(msgspec.json.encode(runtime), indent=2).decode()
        replace_text(self._path, f"{text}\n")
        self._written = runtime
