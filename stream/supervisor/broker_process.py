"""The embedded broker as a supervised process."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

import msgspec

from stream.broker import EmbeddedBroker, Ports
from stream.broker.ports import is_free
from stream.errors import BrokerError
from stream.processes import Identity
from stream.supervisor.atomic import replace_text
from stream.supervisor.process import Seen

log = logging.getLogger(__name__)

#: Where the JVM's own status is not known yet.
DIED: Final = 1


class BrokerProcess:
    """Keeps its ports over restarts, so that clients find it again, and over runs where they are still free."""

    role = "broker"
    name = "broker"

    def __init__(self, state_dir: Path) -> None:
        self._ports_file = state_dir / "broker" / "ports.json"
        self._broker = EmbeddedBroker(
            state_dir / "broker", log_file=state_dir / "logs" / "broker.log", ports=_kept(self._ports_file)
        )
        self._launched = False
        self._ready = False
        self._served = False

    @property
    def bootstrap_servers(self) -> str:
        """Known once it was launched."""
        return self._broker.bootstrap_servers

    def launch(self) -> Identity:
        self._ready = False
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
        return Seen(None, "running" if self._ready else "starting")

    def _died(self, code: int | None, error: BrokerError) -> Seen:
        if not self._served and "already in use" in str(error):
            # Nobody knows these ports yet.
            log.warning("somebody took the broker's port, choosing another")
            self._broker.ports = None
        return Seen(code if code is not None else DIED, reason=str(error))

    def terminate(self) -> None:
        if self._launched:
            self._broker.child.terminate()

    def kill(self) -> None:
        self._broker.kill()


def _kept(ports_file: Path) -> Ports | None:
    """The ports of the last run, if they can be had again."""
    try:
        ports = msgspec.json.decode(ports_file.read_bytes(), type=Ports)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    return ports if all(is_free(port) for port in ports.all()) else None
