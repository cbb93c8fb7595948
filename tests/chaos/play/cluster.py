"""A broker of the chaos suite's own, with the proxy in front of the listener that clients use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Final

from stream.broker import EmbeddedBroker
from stream.broker.ports import choose_ports, is_free
from tests.chaos.proxy.server import Proxy

PROPERTIES: Final = {
    # Session timeouts shorter than the broker's default minimum of 6 s, so that partitions move in test time.
    "group.min.session.timeout.ms": "1000",
    # Everybody may do everything until a scenario forbids it.
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}


class Cluster:
    """Roles connect to `proxied`; the checker and the senders connect to `direct`, where no fault is in the way."""

    def __init__(self, folder: Path, rng: Random) -> None:
        ports = choose_ports(rng, proxied=True)
        others = choose_ports(rng, proxied=False, free=lambda port: port not in ports.all() and is_free(port))
        assert ports.proxied is not None
        self.proxy = Proxy(others.client, ports.proxied)
        self.broker = EmbeddedBroker(
            folder, ports=ports, advertised_port=others.client, extra_properties=PROPERTIES
        )

    @property
    def direct(self) -> str:
        return self.broker.bootstrap_servers

    @property
    def proxied(self) -> str:
        return self.proxy.address

    def start(self) -> None:
        self.broker.start()
        self.proxy.start()

    def stop(self) -> None:
        self.proxy.stop()
        self.broker.stop()

    def owned_by(self, kill_owner: Callable[[str], None]) -> None:
        """Who kills the process behind a transactional id."""
        self.proxy.kill_owner = kill_owner


@contextmanager
def running_cluster(folder: Path, rng: Random) -> Iterator[Cluster]:
    cluster = Cluster(folder, rng)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
