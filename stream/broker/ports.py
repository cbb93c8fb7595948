"""Free ports of the loopback address."""

from __future__ import annotations

import random
import socket
from collections.abc import Callable
from dataclasses import dataclass

from stream.errors import BrokerError

HOST = "127.0.0.1"
#: Below Linux' ephemeral range (32768-60999). In it, a client that calls a stopped broker's port again and again can
#: be given that very port as its own, connects to itself, and blocks the broker's restart.
PORTS = range(20_000, 32_000)
DRAWS_MAX = 200


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the broker listens. `proxied` is a second client listener, only for what a proxy forwards."""

    client: int
    controller: int
    proxied: int | None = None

    def all(self) -> tuple[int, ...]:
        return (self.client, self.controller) + ((self.proxied,) if self.proxied is not None else ())


def is_free(port: int) -> bool:
    """Whether the port can be listened on now (as the JVM does: with SO_REUSEADDR)."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def choose_ports(rng: random.Random, *, proxied: bool, free: Callable[[int], bool] = is_free) -> Ports:
    """Different free ports; somebody may still take one before the broker does."""
    drawn = (port for port in rng.sample(PORTS, DRAWS_MAX) if free(port))
    chosen = [port for port, _ in zip(drawn, range(3 if proxied else 2), strict=False)]
    if len(chosen) < (3 if proxied else 2):
        raise BrokerError(f"no free port on {HOST}: {DRAWS_MAX} of {PORTS.start}-{PORTS.stop - 1} are taken")
    return Ports(*chosen)
