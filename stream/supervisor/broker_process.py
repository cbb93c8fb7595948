"""The embedded broker as a supervised process."""

from __future__ import annotations

import logging
import random
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from stream.broker import EmbeddedBroker, Ports
from stream.broker.jars import default_cache_dir, is_downloaded
from stream.broker.ports import choose_ports, is_free
from stream.errors import BrokerError
from stream.processes import Identity
from stream.processes.listener import listener_of
from stream.role.atomic_file import replace_text
from stream.supervisor.process import Seen

log = logging.getLogger(__name__)

#: Where the JVM's own status is not known yet.
DIED: Final = 1


class BrokerProcess:
    """Keeps its ports over restarts and over runs, so that clients find it again.

    A port that was given, or that clients know from an earlier run, is never changed in silence: where somebody
    else has it, the start is refused.
    """

    role = "broker"
    name = "broker"

    def __init__(self, state_dir: Path, port: int | None = None) -> None:
        """`port`: as the configuration gives it."""
        self._ports_file = state_dir / "broker" / "ports.json"
        self._broker = EmbeddedBroker(state_dir / "broker", log_file=state_dir / "logs" / "broker.log")
        self._kept = _read(self._ports_file)
        #: Known to clients before this start, with what gave it.
        self._given = given_port(port, self._kept, self._ports_file)
        self._launched = False
        self._ready = False
        self._served = False

    @property
    def bootstrap_servers(self) -> str:
        """Known once it was launched."""
        return self._broker.bootstrap_servers

    @property
    def first_step(self) -> str:
        """What the first launch begins with."""
        if is_downloaded(default_cache_dir()):
            return "starting Kafka"
        return "downloading Kafka (45 MB, once), then starting it"

    def launch(self) -> Identity:
        self._ready = False
        if self._broker.ports is None and self._given is not None:
            self._broker.ports = self._ports_with(self._given)
        self._broker.launch()
        self._launched = True
        ports = self._broker.ports
        assert ports is not None
        replace_text(self._ports_file, msgspec.json.encode(ports).decode())
        return self._broker.child.identity

    def look(self) -> Seen:
        if not self._launched:
            return Seen(None)
        code = self._broker.child.exit_code()
        if code is None and self._ready:
            return Seen(None, "running")
        try:
            self._ready = self._broker.is_ready()
        except BrokerError as error:
            return self._died(code, error)
        self._served = self._served or self._ready
        return Seen(None, "running") if self._ready else Seen(None, phase="starting Kafka")

    def _ports_with(self, given: GivenPort) -> Ports:
        """The port that was given, and the controller's of before where that is free; BrokerError: it is taken."""
        if not is_free(given.port):
            raise BrokerError(
                f"port {given.port} ({given.by}) is taken{listener_of(given.port)}: end that, "
                "or name another with [kafka] port"
            )
        kept = self._kept.controller if self._kept is not None else None
        if kept is not None and kept != given.port and is_free(kept):
            return Ports(given.port, kept)
        drawn = choose_ports(random.Random(), proxied=False)
        return Ports(given.port, drawn.controller if drawn.controller != given.port else drawn.client)

    def _died(self, code: int | None, error: BrokerError) -> Seen:
        if not self._served and self._given is None and "already in use" in str(error):
            # Nobody knows these ports yet.
            log.warning("somebody took the broker's port, choosing another")
            self._broker.ports = None
        return Seen(code if code is not None else DIED, reason=str(error))

    def terminate(self) -> None:
        if self._launched:
            self._broker.child.terminate()

    def kill(self) -> None:
        self._broker.kill()


class GivenPort(NamedTuple):
    """A port that may not change, and who gave it, in words."""

    port: int
    by: str


def given_port(configured: int | None, kept: Ports | None, ports_file: Path) -> GivenPort | None:
    """The configuration's goes before that of the last run."""
    if configured is not None:
        return GivenPort(configured, "[kafka] port")
    if kept is not None:
        return GivenPort(kept.client, f"of the last run, kept in {ports_file}")
    return None


def _read(ports_file: Path) -> Ports | None:
    """The ports of the last run."""
    try:
        return msgspec.json.decode(ports_file.read_bytes(), type=Ports)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
